import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'
import {
  distributeTables,
  type MigrationState,
  migrate,
  migrationState,
  requireCitus,
  type Store,
  sqlitePath,
} from '../../store/index.ts'
import { configFromEnvironment } from '../environment.ts'
import { storeName } from '../store-name.ts'
import { withStore } from './opening.ts'

/** Brings the store to this program's schema and prints the steps it took. @throws StartupError */
export async function takeSteps(): Promise<void> {
  await withStore(configFromEnvironment(), async (store) => print(stepLines(await takenBy(store))))
}

/** Prints the steps the store has taken and those it has not. @throws StartupError */
export async function showSteps(): Promise<void> {
  const config = configFromEnvironment()
  if (config.databaseUrl === null && !existsSync(sqlitePath(config.dataDir))) {
    console.log(`there is no database in ${storeName(config)} yet: the first start creates it`)
    return
  }
  await withStore(config, async (store) => print(statusLines(await migrationState(store.read))))
}

/** Migrates, because only what is there can be distributed, and prints what stands where. @throws StartupError */
export async function distribute(): Promise<void> {
  const config = configFromEnvironment()
  requirePostgres(config)
  await withStore(config, async (store) => {
    // First: the schema has no business on a worker, or on a server that is none of a cluster.
    await requireCitus(store.admin)
    print(stepLines(await takenBy(store)))
    print(await distributeTables(store.admin))
  })
}

function requirePostgres({ databaseUrl }: Config): void {
  if (databaseUrl !== null) return
  throw new StartupError('--citus distributes the tables of a PostgreSQL database: set DATABASE_URL to its coordinator')
}

const takenBy = (store: Store): Promise<string[]> => migrate(store.admin, store.columnTypes)

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line)
}

const stepLines = (steps: readonly string[]): string[] =>
  steps.length === 0 ? ['up to date'] : steps.map((step) => `taken    ${step}`)

const statusLines = ({ taken, pending, unknown }: MigrationState): string[] => [
  ...taken.map((step) => `taken    ${step}`),
  ...pending.map((step) => `pending  ${step}`),
  ...unknown.map((step) => `unknown  ${step} (taken by a newer Tagwarden)`),
]
