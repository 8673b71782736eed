import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { Folder, foldJournal } from '../../src/journal/index.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { COUNT_COLUMNS, GRAIN, mergeParts, type RollupTable, rollUp } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'

const HOUR_START = Date.parse('2026-11-20T10:00:00.000Z')
const LATER = HOUR_START + 3 * HOUR
const TAGS = [{ id: '12', name: 'GA4', status: 'failure' as const, execution_time: 84 }]

let seq = 0
async function foldOne(store: Store, siteNo: number, at: number): Promise<void> {
  await writeJournal(store, 'node', ++seq, deltaOf(siteNo, [eventPayload({ tags: TAGS, timestamp_ms: at })], at))
  await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'node' })
}

async function foldTwice(store: Store, siteNo: number, at: number): Promise<void> {
  for (let n = 0; n < 2; n++) await foldOne(store, siteNo, at)
}

const waitingForLocks = (store: Store, sessions: number) =>
  until(`${sessions} sessions wait for locks`, async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
    return rows.length >= sessions ? true : undefined
  })

/** Merges the site's minute and leaves the transaction open, until `during` has begun and waits for it. */
async function whileMerging(store: Store, siteNo: number, during: () => Promise<unknown>): Promise<void> {
  const last = await insertSite(store)
  await foldTwice(store, last.site_no, LATER)
  const [isHeld, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = store.write.transaction().execute(async (trx) => {
    await sql`select from minute_parts where site_no = ${last.site_no} for update`.execute(trx)
    isHeld.resolve()
    await mayEnd.promise
  })
  await isHeld.promise
  const minutes = [siteNo, last.site_no].map((each, n) => ({ siteNo: each, minute: n === 0 ? HOUR_START : LATER }))
  const merging = mergeParts(store, minutes)
  try {
    await waitingForLocks(store, 1)
    const others = during()
    await waitingForLocks(store, 2)
    mayEnd.resolve()
    await others
  } finally {
    mayEnd.resolve()
    await Promise.all([holding, merging])
  }
}

const counted = async (store: Store, siteNo: number) => {
  const [ofEvents, ofPairs] = [countsIn(store.read, 'event_rollups'), countsIn(store.read, 'event_tag_rollups')]
  const events = store.read.selectFrom(ofEvents).select('events as count').where('grain', '=', GRAIN.minute)
  const failures = store.read.selectFrom(ofPairs).select('failure as count').where('grain', '=', GRAIN.hour)
  return {
    events: (await events.where('site_no', '=', siteNo).orderBy('bucket').execute()).map(({ count }) => count),
    failures: (await failures.where('site_no', '=', siteNo).execute()).map(({ count }) => count),
  }
}

for (const [which, rowsAtOnce] of Object.entries({ 'few counts': undefined, 'many counts': 3 })) {
  testOnEveryEngine(
    `an hour with ${which} that is rolled up while its parts are merged counts each once`,
    async (store) => {
      const { site_no } = await insertSite(store)
      await foldTwice(store, site_no, HOUR_START)
      await foldTwice(store, site_no, HOUR_START + MINUTE)
      const options = rowsAtOnce === undefined ? {} : { rowsAtOnce }
      await whileMerging(store, site_no, () => rollUp(store, LATER, options))
      await rollUpAll(store, LATER, options)
      assert.deepEqual(await counted(store, site_no), { events: [2, 2], failures: [4] })
    },
    [postgres],
  )
}

/** Holds a row of counts that a roll-up adds to, from before it begins until `during` waits for the roll-up. */
async function whileMoving(
  store: Store,
  table: RollupTable,
  row: object,
  during: () => Promise<unknown>,
  rollUpAll: () => Promise<unknown>,
) {
  const [isHeld, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const zeros = Object.fromEntries(COUNT_COLUMNS[table].map((count) => [count, 0]))
  const holding = store.write.transaction().execute(async (trx) => {
    await trx
      .insertInto(table)
      .values({ ...zeros, ...row } as never)
      .execute()
    isHeld.resolve()
    await mayEnd.promise
  })
  await isHeld.promise
  const rollingUp = rollUpAll()
  try {
    await waitingForLocks(store, 1)
    const others = during()
    await Promise.race([others, waitingForLocks(store, 2)])
    mayEnd.resolve()
    await others
  } finally {
    mayEnd.resolve()
    await Promise.all([holding, rollingUp])
  }
}

const pairs = { table: 'event_tag_rollups', row: { grain: GRAIN.hour, bucket: HOUR_START, tag_key: 'GA4' } } as const
const events = { table: 'event_rollups', row: { grain: GRAIN.minute, bucket: HOUR_START } } as const
for (const { what, table, row, options } of [
  { what: 'the pairs of a small hour', ...pairs, options: {} },
  { what: 'the pairs of a large hour', ...pairs, options: { rowsAtOnce: 3 } },
  { what: 'the minutes of a large hour', ...events, options: { rowsAtOnce: 3 } },
]) {
  testOnEveryEngine(
    `an event that is folded while a roll-up moves ${what} is counted once`,
    async (store) => {
      const { site_no } = await insertSite(store)
      for (const minute of [0, MINUTE]) await foldTwice(store, site_no, HOUR_START + minute)
      const held = { site_no, container_id: 'GTM-ABC1234', event_name: 'purchase', ...row }
      const round = () => rollUp(store, LATER, options)
      await whileMoving(store, table, held, () => foldOne(store, site_no, HOUR_START), round)
      await rollUpAll(store, LATER, options)
      assert.deepEqual(await counted(store, site_no), { events: [3, 2], failures: [5] })
    },
    [postgres],
  )
}
