import { liveNodes } from '../../cluster/index.ts'
import type { Config } from '../../config.ts'
import { StartupError, systemClock } from '../../lib/index.ts'
import {
  copyToPostgres,
  distributeTables,
  exists,
  type MigrationState,
  migrate,
  migrationState,
  openStore,
  requireCitus,
  type Store,
  StoreError,
  type StoreLocation,
  sqlitePath,
  type Tally,
  WAITING_FOR_TABLES,
  WAITING_TO_MIGRATE,
  withDatabaseFile,
} from '../../store/index.ts'
import { configFromEnvironment, storeName } from '../options.ts'
import { withProgress } from '../progress.ts'

/** Migrates the store to this version's schema and prints the steps applied. @throws StartupError */
export async function takeSteps(): Promise<void> {
  await withStore(configFromEnvironment(), async (store) => print(stepLines(await takenBy(store))))
}

/** Prints the steps that are applied and those that are pending. @throws StartupError */
export async function showSteps(): Promise<void> {
  const config = configFromEnvironment()
  if (config.databaseUrl === null && !exists(sqlitePath(config.dataDir))) {
    console.log(`there is no database in ${storeName(config)} yet: the first start creates it`)
    return
  }
  print(statusLines(await stateOf(config)))
}

/** A SQLite file is only read, so a service may have it open. */
const stateOf = (config: Config): Promise<MigrationState> =>
  config.databaseUrl === null
    ? orRefused(withDatabaseFile(sqlitePath(config.dataDir), (db) => migrationState(db)))
    : withStore(config, (store) => migrationState(store.read))

/** Migrates, because only existing tables can be distributed, distributes them and prints the result. @throws StartupError */
export async function distribute(): Promise<void> {
  const config = configFromEnvironment()
  requirePostgres(config)
  await withStore(config, async (store) => {
    // Check this first: the schema must not be created on a Citus worker, or on a server without Citus.
    await requireCitus(store.admin)
    print(stepLines(await takenBy(store)))
    print(await distributeTables(store.admin))
  })
}

function requirePostgres({ databaseUrl }: Config): void {
  if (databaseUrl !== null) return
  throw new StartupError('--citus distributes the tables of a PostgreSQL database: set DATABASE_URL to its coordinator')
}

const takenBy = (store: Store): Promise<string[]> =>
  migrate(store.admin, store.columnTypes, undefined, {
    onStep: (step) => console.error(`taking   ${step}`),
    onWait: () => console.error(WAITING_TO_MIGRATE),
    onTablesInUse: () => console.error(WAITING_FOR_TABLES),
  })

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line)
}

const stepLines = (steps: readonly string[]): string[] =>
  steps.length === 0 ? ['up to date'] : steps.map((step) => `applied  ${step}`)

const statusLines = ({ taken, pending, unknown }: MigrationState): string[] => [
  ...taken.map((step) => `applied  ${step}`),
  ...pending.map((step) => `pending  ${step}`),
  ...unknown.map((step) => `unknown  ${step} (applied by a newer Tagwarden)`),
]

/**
 * Copies the embedded store in `folder` into PostgreSQL and prints what was verified and what to do next.
 *
 * @param to the target's address; undefined means DATABASE_URL
 * @throws StartupError in one line for the operator
 */
export async function copyEmbedded(folder: string, to: string | undefined): Promise<void> {
  try {
    await copyFolder(folder, to)
  } catch (thrown) {
    if (!(thrown instanceof StartupError) || to === undefined) throw thrown
    // The config and the engine name DATABASE_URL, where an address usually comes from.
    throw new StartupError(thrown.message.replace(/^DATABASE_URL /, '--to '))
  }
}

async function copyFolder(folder: string, to: string | undefined): Promise<void> {
  const target = targetOf(to)
  const source: StoreLocation = { ...target, dataDir: folder, databaseUrl: null }
  if (!exists(sqlitePath(folder))) {
    throw new StartupError(`there is no database in ${folder}: give the DATA_DIR of an embedded store`)
  }
  const began = performance.now()
  const { tallies, copied } = await withStore(source, async (from) => {
    await requireCurrentSchema(from, folder)
    return withStore(target, (into) => copy(from, into), to === undefined ? 'DATABASE_URL' : '--to')
  })
  const seconds = (performance.now() - began) / 1_000
  for (const line of tallyLines(tallies)) console.log(line)
  console.log(`rows and sums are the same in sqlite:${folder} and in ${storeName(target)}`)
  console.log(`${amount(copied)} rows copied in ${seconds.toFixed(1)} s`)
  console.log(
    `Next: set DATABASE_URL to this database and start the service. ${folder} stays as it is, in case you go back.`,
  )
}

/** The settings with the target as their database. */
function targetOf(to: string | undefined): Config {
  const given = to === undefined ? {} : { DATABASE_URL: to, DATABASE_URL_FILE: '' }
  const config = configFromEnvironment({ ROLE: 'all', DATABASE_READ_URL: '', DATABASE_READ_URL_FILE: '', ...given })
  if (config.databaseUrl === null) {
    throw new StartupError('--from needs a target: give --to postgres://… or set DATABASE_URL')
  }
  return config
}

async function requireCurrentSchema(source: Store, folder: string): Promise<void> {
  const { taken, pending, unknown } = await migrationState(source.read)
  if (unknown.length > 0) {
    throw new StartupError(
      `the database in ${folder} is newer than this version (it has applied ${unknown.join(', ')}): use a newer Tagwarden`,
    )
  }
  if (taken.length === 0) throw new StartupError(`the database in ${folder} is not a Tagwarden store: nothing to copy`)
  if (pending.length > 0) {
    throw new StartupError(
      `the database in ${folder} is from an older Tagwarden (it lacks ${pending.join(', ')}): back it up, run ` +
        `"DATABASE_URL= DATA_DIR=${folder} tagwarden migrate", then run this again`,
    )
  }
}

async function copy(source: Store, target: Store): Promise<{ tallies: Tally[]; copied: number }> {
  let copied = 0
  try {
    // Check this first: a running service of an older version would find its tables changed.
    await requireNoService(target)
    await migrate(target.admin, target.columnTypes)
    const tallies = await copyToPostgres({
      source,
      target,
      async watch(total, already, run) {
        if (already > 0) console.error(`resuming a copy that was interrupted: ${amount(already)} rows are there`)
        await withProgress('copying', total, run)
        copied = total - already
        console.error('verifying the copy')
      },
    })
    return { tallies, copied }
  } catch (thrown) {
    if (!(thrown instanceof StoreError)) throw thrown
    throw new StartupError(`the copy was interrupted: ${thrown.message}. Run this again to resume it`)
  }
}

async function requireNoService(target: Store): Promise<void> {
  const { taken } = await migrationState(target.read)
  if (!taken.includes('0002-nodes')) return
  // Nodes beat by the database's clock, and this may be someone's laptop.
  const now = (await target.now?.()) ?? systemClock.now()
  const nodes = await liveNodes(target.read, now).execute()
  if (nodes.length === 0) return
  throw new StartupError('a Tagwarden is running on the target: stop it, and wait half a minute if it was killed')
}

const WHOLE = new Intl.NumberFormat('en-US')

const amount = (count: number): string => WHOLE.format(count)

/** A line for each table: its rows, and the number of columns whose sums are equal on both sides. */
function tallyLines(tallies: readonly Tally[]): string[] {
  const rows = [
    ['table', 'rows', 'sums compared'],
    ...tallies.map(({ table, rows: count, sums }) => [table, amount(count), String(Object.keys(sums).length)]),
  ]
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = [width(0), width(1), width(2)] as const
  return rows.map(
    ([table = '', count = '', sums = '']) =>
      `${table.padEnd(widths[0])}  ${count.padStart(widths[1])}  ${sums.padStart(widths[2])}`,
  )
}

/**
 * Opens the store for `work` and closes it afterwards. While the database is unavailable, waits and says so on standard error.
 *
 * @param name where its address was given
 */
async function withStore<T>(
  location: StoreLocation,
  work: (store: Store) => Promise<T>,
  name = 'DATABASE_URL',
): Promise<T> {
  let printed = ''
  const store = await openStore(location, ({ message }, what) => {
    const line = `${what}: ${message}, trying again`.replace('DATABASE_URL', name)
    if (line !== printed) console.error(line)
    printed = line
  })
  try {
    return await orRefused(work(store))
  } finally {
    await store.close()
  }
}

const orRefused = <T>(work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw thrown instanceof StoreError ? new StartupError(`the database cannot be used: ${thrown.message}`) : thrown
  })
