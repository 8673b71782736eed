import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type MigrationProvider, Migrator } from 'kysely/migration'
import { asError, SECOND, StartupError } from '../lib/index.ts'
import { migrations } from './migrations/index.ts'
import type { ColumnTypes, Migration } from './migrations/types.ts'
import { StoreError } from './store.ts'
import type { Tables } from './tables.ts'
import { isOnPostgres } from './unpacked.ts'

export const WAITING_TO_MIGRATE = 'waiting for another process that migrates the database'
export const WAITING_FOR_TABLES =
  'waiting for other sessions, such as a pg_dump, that use the tables of this step: trying again until they are done'
/** After this time a process that is still waiting for another's migration says so, ms. */
const WAIT_MS = 3 * SECOND
/**
 * How long a step on PostgreSQL waits for a table that others use, and how long it then leaves the tables to the nodes that run, ms:
 * behind a step that waits, all that use the table wait, too, and one pg_dump uses every table for hours.
 */
const TABLES = { waitMs: 5 * SECOND, pauseMs: 10 * SECOND }

interface MigrateOptions {
  /** Called as each step begins; not of a new database, where none takes time. */
  onStep?: (name: string) => void
  /** Called once, when no step has begun for a while: one process at a time takes them. */
  onWait?: () => void
  waitMs?: number
  /** Called once for each step that has to wait for tables that others use. */
  onTablesInUse?: () => void
  tables?: typeof TABLES
}

/**
 * Migrates the schema to this program's version and returns the names of the steps taken.
 *
 * Each step is its own transaction: `migrateUp` is called once per step, and both dialects declare that schema changes are
 * transactional. (Kysely's own SQLite dialect declares they are not, and could leave half a step behind.)
 *
 * @throws StartupError when the database is newer than this version, or a step fails (which then left nothing behind).
 */
export async function migrate(
  db: Kysely<Tables>,
  types: ColumnTypes,
  steps: readonly Migration[] = migrations,
  { onStep, onWait, waitMs = WAIT_MS, onTablesInUse, tables = TABLES }: MigrateOptions = {},
): Promise<string[]> {
  const isNew = (await takenUpTo(db, steps)).length === 0
  const waiting = setTimeout(() => onWait?.(), waitMs)
  let begun = ''
  const begin = (name: string) => {
    clearTimeout(waiting)
    if (!isNew && name !== begun) onStep?.(name)
    begun = name
  }
  let waitedIn = ''
  const mayTryAgain = async (error: unknown) => {
    if (!(isOnPostgres(db) && error instanceof StoreError && error.kind === 'busy')) return false
    if (waitedIn !== begun) onTablesInUse?.()
    waitedIn = begun
    await delay(tables.pauseMs)
    return true
  }
  try {
    return await takeAll(new Migrator({ db, provider: providerOf(steps, types, tables.waitMs, begin) }), mayTryAgain)
  } finally {
    clearTimeout(waiting)
  }
}

async function takeAll(migrator: Migrator, mayTryAgain: (error: unknown) => Promise<boolean>): Promise<string[]> {
  const taken: string[] = []
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp()
    const failed = results.find((result) => result.status === 'Error')
    if (failed !== undefined && (await mayTryAgain(error))) continue
    if (error !== undefined) {
      const step = failed === undefined ? 'the database cannot be migrated' : `migration ${failed.migrationName} failed`
      throw new StartupError(`${step}: ${asError(error).message}`)
    }
    if (results.length === 0) return taken
    taken.push(...results.map((result) => result.migrationName))
  }
}

/** Which steps a database has taken. */
export interface MigrationState {
  taken: string[]
  /** Steps that this program knows and the database has not taken yet. */
  pending: string[]
  /** Steps taken by a newer program. */
  unknown: string[]
}

/** Reads the migration state; changes nothing. */
export async function migrationState(
  db: Kysely<Tables>,
  steps: readonly Migration[] = migrations,
): Promise<MigrationState> {
  const names = steps.map((step) => step.name)
  const taken = await takenSteps(db)
  return {
    taken: taken.filter((name) => names.includes(name)),
    pending: names.filter((name) => !taken.includes(name)),
    unknown: taken.filter((name) => !names.includes(name)),
  }
}

function providerOf(
  steps: readonly Migration[],
  types: ColumnTypes,
  waitMs: number,
  onStep: (name: string) => void,
): MigrationProvider {
  const migrationOf = (step: Migration) => ({
    async up(db: Kysely<Tables>) {
      onStep(step.name)
      if (isOnPostgres(db)) await sql`set local lock_timeout = ${sql.lit(waitMs)}`.execute(db)
      for (const statement of step.statements(types)) await sql.raw(statement).execute(db)
    },
  })
  const byName = Object.fromEntries(steps.map((step) => [step.name, migrationOf(step)]))
  return { getMigrations: () => Promise.resolve(byName) }
}

async function takenSteps(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === 'kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map((row) => row.name)
}

/** The steps that the database has taken. @throws StartupError when it is newer than this version */
async function takenUpTo(db: Kysely<Tables>, steps: readonly Migration[]): Promise<string[]> {
  const { taken, unknown } = await migrationState(db, steps)
  if (unknown.length > 0) {
    throw new StartupError(
      `the database is newer than this version (it has applied ${unknown.join(', ')}): start a newer Tagwarden on it`,
    )
  }
  return taken
}
