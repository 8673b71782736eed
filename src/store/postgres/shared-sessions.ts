import { sql } from 'kysely'
import type { Store } from '../store.ts'

/** Ends the sentence "DATABASE_URL …". */
export const SHARED_SESSIONS =
  "is the address of a pooler in transaction mode, so time limits of one connection apply to another and notifications are lost: set its pool_mode = session, or use PostgreSQL's own address"

/**
 * Whether two open connections have one session, as behind a pooler in transaction mode: it takes the session that was used last.
 * While the database is busy it may take another, so true is certain and false is not.
 *
 * @throws StoreError
 */
export async function sharesSessions({ write, read }: Pick<Store, 'write' | 'read'>): Promise<boolean> {
  const first = await sessionOf(write)
  return (await sessionOf(read)) === first
}

async function sessionOf(db: Store['read']): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid
}
