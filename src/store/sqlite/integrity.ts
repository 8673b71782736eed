import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** What is wrong with the database file: its pages and their order, not their meaning. Reads all of it. */
export async function integrityErrors(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check`.execute(db)
  return rows.map((row) => row.quick_check).filter((message) => message !== 'ok')
}
