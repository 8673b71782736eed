import assert from 'node:assert/strict'
import { type EventPayload, Folder, foldJournal } from '../../src/journal/index.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { COUNT_COLUMNS, GRAIN, mergeParts, type RollupTable, rollUp } from '../../src/rollups/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const HOUR_START = Date.parse('2026-11-20T10:00:00.000Z')
const LATER = HOUR_START + 3 * HOUR

/** Something for every table. */
const WHOLE: Partial<EventPayload> = {
  tags: [{ id: '12', name: 'GA4', status: 'failure', execution_time: 84, response: '5xx' }],
  consent: { ad_storage: 'denied' },
  ecommerce: { has_value: true, value_zero: true },
  fields: { coupon: true },
}

let seq = 0
/** Folds one event by itself, so that it is a part of its own. */
async function foldOne(store: Store, siteNo: number, at: number, over: Partial<EventPayload> = WHOLE): Promise<void> {
  await writeJournal(store, 'node', ++seq, deltaOf(siteNo, [eventPayload({ ...over, timestamp_ms: at })], at))
  await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'node' })
}

const partNumbers = async (store: Store): Promise<number[]> =>
  (await store.read.selectFrom('minute_parts').select('part').execute()).map(({ part }) => part)
const partsIn = async (store: Store): Promise<number> => (await partNumbers(store)).length

/** Everything that is counted, by table. */
async function everything(store: Store): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of Object.keys(COUNT_COLUMNS) as RollupTable[]) {
    const rows = await store.read.selectFrom(countsIn(store.read, table)).selectAll().execute()
    found[table] = rows.map((row) => JSON.stringify(row)).sort()
  }
  return found
}

testOnEveryEngine('parts of a minute are merged for each container, and every count stays as it is', async (store) => {
  const { site_no } = await insertSite(store)
  const other = await insertSite(store)
  for (const container_id of ['GTM-A', 'GTM-A', 'GTM-B', 'GTM-A']) {
    await foldOne(store, site_no, HOUR_START, { ...WHOLE, container_id })
  }
  await foldOne(store, site_no, HOUR_START, { event_name: 'page_view', tags: [], container_id: 'GTM-A' })
  await foldOne(store, site_no, HOUR_START + MINUTE)
  await foldOne(store, other.site_no, HOUR_START)
  const before = await everything(store)
  assert.equal(await mergeParts(store, [{ siteNo: site_no, minute: HOUR_START }]), true)
  assert.deepEqual(await everything(store), before)
  assert.equal(await partsIn(store), 4)
  for (const rows of Object.values(before)) assert.ok(rows.length > 0)
})

testOnEveryEngine('a minute with one part stays as it is, and empty sections stay empty', async (store) => {
  const { site_no } = await insertSite(store)
  const plain: Partial<EventPayload> = { event_name: 'page_view', tags: [] }
  for (let part = 0; part < 2; part++) await foldOne(store, site_no, HOUR_START, plain)
  await foldOne(store, site_no, HOUR_START + MINUTE, plain)
  const single = store.read
    .selectFrom('minute_parts')
    .select('part')
    .where('bucket', '=', HOUR_START + MINUTE)
  const before = await single.execute()
  const minutes = [0, MINUTE, 2 * MINUTE].map((after) => ({ siteNo: site_no, minute: HOUR_START + after }))
  assert.equal(await mergeParts(store, minutes), true)
  assert.deepEqual(await single.execute(), before)
  const sections = store.read
    .selectFrom('minute_parts')
    .select(['tags', 'event_tags', 'signals', 'tag_signals', 'fields'])
  const none = { tags: null, event_tags: null, signals: null, tag_signals: null, fields: null }
  assert.deepEqual(await sections.execute(), [none, none])
})

testOnEveryEngine('of a minute with very much text a part is merged at a time', async (store) => {
  const { site_no } = await insertSite(store)
  for (let part = 0; part < 3; part++) await foldOne(store, site_no, HOUR_START)
  const long = 'x'.repeat(200_000)
  await store.write
    .updateTable('minute_parts')
    .set({ events: `[["${long}",1]]` })
    .execute()
  const before = await everything(store)
  assert.equal(await mergeParts(store, [{ siteNo: site_no, minute: HOUR_START }]), true)
  assert.deepEqual(await everything(store), before)
  assert.equal(await partsIn(store), 2)
})

testOnEveryEngine('a merge that fails for another reason than a race says so, and keeps the parts', async (store) => {
  const { site_no } = await insertSite(store)
  for (let part = 0; part < 2; part++) await foldOne(store, site_no, HOUR_START)
  const before = await partNumbers(store)
  const failing: Store = { ...store, batch: () => Promise.reject(new StoreError('busy', 'statement timeout')) }
  await assert.rejects(mergeParts(failing, [{ siteNo: site_no, minute: HOUR_START }]), /statement timeout/)
  assert.deepEqual(await partNumbers(store), before)
})

testOnEveryEngine('of two that merge the same parts at once one does, and nothing is counted twice', async (store) => {
  const { site_no } = await insertSite(store)
  await foldOne(store, site_no, HOUR_START)
  await foldOne(store, site_no, HOUR_START)
  const minutes = [{ siteNo: site_no, minute: HOUR_START }]
  const before = await everything(store)
  const slow = steppingStore(store, async (what) => {
    if (what === 'batch') assert.equal(await mergeParts(store, minutes), true)
  })
  assert.equal(await mergeParts(slow, minutes), false)
  assert.deepEqual(await everything(store), before)
  assert.equal(await partsIn(store), 1)
})

testOnEveryEngine(
  'event × tag counts that a roll-up moves while parts are merged are counted once, and so are those that come after',
  async (store) => {
    const { site_no } = await insertSite(store)
    await foldOne(store, site_no, HOUR_START)
    await foldOne(store, site_no, HOUR_START)
    const minutes = [{ siteNo: site_no, minute: HOUR_START }]
    const slow = steppingStore(store, async (what) => {
      if (what === 'batch') await rollUp(store, LATER)
    })
    assert.equal(await mergeParts(slow, minutes), false)
    const pairs = async () =>
      (
        await store.read
          .selectFrom(countsIn(store.read, 'event_tag_rollups'))
          .select('failure')
          .where('grain', '=', GRAIN.hour)
          .execute()
      ).map(({ failure }) => failure)
    assert.deepEqual(await pairs(), [2])
    await foldOne(store, site_no, HOUR_START)
    assert.equal(await mergeParts(store, minutes), true)
    assert.equal(await partsIn(store), 1)
    assert.deepEqual(await pairs(), [3])
    await rollUpAll(store, LATER)
    assert.deepEqual(await pairs(), [3])
  },
)

testOnEveryEngine('counts of hours that an older version began are added to, not replaced', async (store) => {
  const { site_no } = await insertSite(store)
  const key = { site_no, container_id: 'GTM-ABC1234' }
  const zeros = (table: RollupTable) => Object.fromEntries(COUNT_COLUMNS[table].map((count) => [count, 0]))
  const events = { ...zeros('event_rollups'), grain: GRAIN.minute, bucket: HOUR_START, event_name: 'purchase' }
  const pairs = { ...zeros('event_tag_rollups'), grain: GRAIN.hour, bucket: HOUR_START }
  await store.write
    .insertInto('event_rollups')
    .values({ ...events, ...key, events: 5, total: 5 } as never)
    .execute()
  await store.write
    .insertInto('event_tag_rollups')
    .values({ ...pairs, ...key, event_name: 'purchase', tag_key: 'GA4', failure: 7 } as never)
    .execute()
  await foldOne(store, site_no, HOUR_START)
  await rollUpAll(store, LATER)
  const hours = await store.read.selectFrom('event_rollups').select('events').where('grain', '=', GRAIN.hour).execute()
  assert.deepEqual(hours, [{ events: 6 }])
  const moved = await store.read.selectFrom('event_tag_rollups').select(['grain', 'failure']).orderBy('grain').execute()
  assert.deepEqual(moved, [{ grain: GRAIN.hour, failure: 8 }])
})
