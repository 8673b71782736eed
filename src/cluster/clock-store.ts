import type { Kysely, Tables } from '../store/index.ts'
import type { ClockRecord } from './clock-record.ts'

/** The table has one row. */
const ID = 1

/** What was last known of the clock; undefined in a new database. @throws StoreError */
export async function readClockRecord(db: Kysely<Tables>): Promise<ClockRecord | undefined> {
  const row = await db.selectFrom('clock_checks').selectAll().where('id', '=', ID).executeTakeFirst()
  if (row === undefined) return undefined
  return {
    checkedAt: row.checked_at,
    carefulUntil: row.careful_until,
    slackMs: row.slack_ms,
    doubt: row.doubt,
  }
}

/** @throws StoreError */
export async function writeClockRecord(db: Kysely<Tables>, record: ClockRecord): Promise<void> {
  const row = {
    checked_at: record.checkedAt,
    careful_until: record.carefulUntil,
    slack_ms: record.slackMs,
    doubt: record.doubt,
  }
  await db
    .insertInto('clock_checks')
    .values({ id: ID, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
