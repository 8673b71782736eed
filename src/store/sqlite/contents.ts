import { Kysely, sql } from 'kysely'
import { Mutex, StartupError } from '../../lib/index.ts'
import { migrationState } from '../migrate.ts'
import { totalOf } from '../sql.ts'
import { StoreError } from '../store.ts'
import type { Tables } from '../tables.ts'
import { threadDialect } from './dialect.ts'
import { ConnectionThread } from './thread.ts'

/** A summary of a database, for people. */
export interface DatabaseContents {
  clients: number
  sites: number
  /** Events in these clients' usage of all months. */
  events: number
  /** Commits that no report includes yet; the next start folds them. */
  unfolded: number
  /** Migrations that this program takes at its next start. */
  pending: string[]
}

/**
 * Reads the whole database file at `path`, which no other process may have open.
 *
 * @param name what messages call the file
 * @throws StartupError when it is damaged, not a Tagwarden database, or one of a newer Tagwarden
 */
export async function checkedContents(path: string, name: string): Promise<DatabaseContents> {
  try {
    return await withDatabaseFile(path, async (db) => {
      const pending = await pendingSteps(db, name)
      const [error] = await integrityErrors(db)
      if (error !== undefined) throw new StartupError(`${name} is damaged: ${error.replaceAll('\n', ' ')}`)
      return { ...(await counts(db)), pending }
    })
  } catch (thrown) {
    if (thrown instanceof StoreError) throw new StartupError(`${name} is damaged: ${thrown.message}`)
    throw thrown
  }
}

async function pendingSteps(db: Kysely<Tables>, name: string): Promise<string[]> {
  const { taken, pending, unknown } = await migrationState(db)
  if (taken.length === 0) throw new StartupError(`${name} is not a Tagwarden database`)
  if (unknown.length > 0) {
    throw new StartupError(
      `${name} is newer than this version (it has applied ${unknown.join(', ')}): use the Tagwarden that wrote it`,
    )
  }
  return pending
}

async function counts(db: Kysely<Tables>): Promise<Omit<DatabaseContents, 'pending'>> {
  const rowsOf = async (table: 'clients' | 'sites' | 'journal'): Promise<number> => {
    const { rows } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return rows
  }
  const usage = db.selectFrom('client_usage').select(totalOf('events').as('events'))
  return {
    clients: await rowsOf('clients'),
    sites: await rowsOf('sites'),
    events: (await usage.executeTakeFirstOrThrow()).events,
    unfolded: await rowsOf('journal'),
  }
}

/** The errors in the database file's structure (pages and their order, not their meaning). Reads all of it. */
export async function integrityErrors(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check`.execute(db)
  return rows.map((row) => row.quick_check).filter((message) => message !== 'ok')
}

/**
 * Opens a database file read-only, even if other processes have it open, and closes it after `work`. It runs in its own thread,
 * so that a long statement holds up neither signals nor a progress bar.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function withDatabaseFile<T>(path: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const thread = await ConnectionThread.open({ path, mode: 'reader', lockPath: '' })
  try {
    return await work(new Kysely({ dialect: threadDialect([{ thread, turn: new Mutex() }], 'begin') }))
  } finally {
    await thread.close()
  }
}
