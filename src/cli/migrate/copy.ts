import { existsSync } from 'node:fs'
import { liveNodes } from '../../cluster/index.ts'
import type { Config } from '../../config.ts'
import { StartupError, systemClock } from '../../lib/index.ts'
import {
  copyToPostgres,
  migrate,
  migrationState,
  type Store,
  StoreError,
  type StoreLocation,
  sqlitePath,
  type Tally,
} from '../../store/index.ts'
import { configFromEnvironment } from '../environment.ts'
import { withProgress } from '../progress.ts'
import { storeName } from '../store-name.ts'
import { withStore } from './opening.ts'
import { amount, tallyLines } from './report.ts'

/**
 * Copies the embedded store in `folder` into PostgreSQL and prints what was verified and what to do next.
 *
 * @param to the target's address; undefined = DATABASE_URL
 * @throws StartupError in one line for the operator
 */
export async function copyEmbedded(folder: string, to: string | undefined): Promise<void> {
  try {
    await copyFolder(folder, to)
  } catch (thrown) {
    if (!(thrown instanceof StartupError) || to === undefined) throw thrown
    // Config and engine name the setting that an address usually comes from.
    throw new StartupError(thrown.message.replace(/^DATABASE_URL /, '--to '))
  }
}

async function copyFolder(folder: string, to: string | undefined): Promise<void> {
  const target = targetOf(to)
  const source: StoreLocation = { ...target, dataDir: folder, databaseUrl: null }
  if (!existsSync(sqlitePath(folder))) {
    throw new StartupError(`there is no database in ${folder}: give the DATA_DIR of an embedded store`)
  }
  const began = performance.now()
  const { tallies, copied } = await withStore(source, async (from) => {
    await requireCurrentSchema(from, folder)
    return withStore(target, (into) => copy(from, into))
  })
  const seconds = (performance.now() - began) / 1_000
  for (const line of tallyLines(tallies)) console.log(line)
  console.log(`rows and sums are the same in sqlite:${folder} and in ${storeName(target)}`)
  console.log(`${amount(copied)} rows copied in ${seconds.toFixed(1)} s`)
  console.log(
    `Next: set DATABASE_URL to this database and start the service. ${folder} stays as it is, for the way back.`,
  )
}

/** The settings with the target as their database. */
function targetOf(to: string | undefined): Config {
  const given = to === undefined ? {} : { DATABASE_URL: to, DATABASE_URL_FILE: '' }
  const config = configFromEnvironment({ ROLE: 'all', DATABASE_READ_URL: '', DATABASE_READ_URL_FILE: '', ...given })
  if (config.databaseUrl === null) {
    throw new StartupError('--from needs to know where to: give --to postgres://… or set DATABASE_URL')
  }
  return config
}

async function requireCurrentSchema(source: Store, folder: string): Promise<void> {
  const { taken, pending, unknown } = await migrationState(source.read)
  if (unknown.length > 0) {
    throw new StartupError(
      `the database in ${folder} is newer than this program (it has taken ${unknown.join(', ')}): use a newer Tagwarden`,
    )
  }
  if (taken.length === 0)
    throw new StartupError(`the database in ${folder} is no store of Tagwarden's: nothing to copy`)
  if (pending.length > 0) {
    throw new StartupError(
      `the database in ${folder} is of an older Tagwarden (it lacks ${pending.join(', ')}): back it up, run ` +
        `"DATABASE_URL= DATA_DIR=${folder} tagwarden migrate", then run this again`,
    )
  }
}

async function copy(source: Store, target: Store): Promise<{ tallies: Tally[]; copied: number }> {
  let copied = 0
  try {
    await migrate(target.admin, target.columnTypes)
    await requireNoService(target)
    const tallies = await copyToPostgres({
      source,
      target,
      async watch(total, already, run) {
        if (already > 0) console.error(`going on with a copy that was interrupted: ${amount(already)} rows are there`)
        await withProgress('copying', total, run)
        copied = total - already
        console.error('verifying the copy')
      },
    })
    return { tallies, copied }
  } catch (thrown) {
    if (!(thrown instanceof StoreError)) throw thrown
    throw new StartupError(`the copy was interrupted: ${thrown.message}. Run this again, and it goes on where it ended`)
  }
}

async function requireNoService(target: Store): Promise<void> {
  const nodes = await liveNodes(target.read, systemClock.now()).execute()
  if (nodes.length === 0) return
  throw new StartupError('a Tagwarden is running on the target: stop it, and wait half a minute if it was killed')
}
