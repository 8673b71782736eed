import assert from 'node:assert/strict'
import { Delta, Folder, foldJournal } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, Backoff, GRAIN, rollUp } from '../../src/rollups/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { addTo, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { insertSite } from '../../testkit/sites.ts'

const MIDNIGHT = Date.parse('2026-11-20T00:00:00.000Z')
const RETENTION = { minuteDays: 7, hourDays: 400 }

const DELETES_PARTS = /^delete from minute_parts/

let seq = 0
async function send(store: Store, delta: Delta): Promise<void> {
  await writeJournal(store, 'node', ++seq, delta)
  await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'node' })
}

/** Events of several containers and names at three times of some hours, in both halves of each. */
async function sendMuch(store: Store, siteNo: number, hours = 2): Promise<void> {
  const delta = new Delta()
  for (let hour = 0; hour < hours; hour++) {
    for (const container_id of ['a', 'B', 'ä', 'c|d']) {
      for (const event_name of ['one', 'Two', 'drei', 'vier']) {
        for (let minute = 0; minute < 3; minute++) {
          const timestamp_ms = MIDNIGHT + hour * HOUR + minute * 20 * MINUTE
          addTo(delta, deltaOf(siteNo, [eventPayload({ timestamp_ms, container_id, event_name })], timestamp_ms))
        }
      }
    }
  }
  await send(store, delta)
}

const allRows = async (store: Store, siteNo: number) =>
  Promise.all(
    (['event_rollups', 'tag_rollups', 'event_tag_rollups'] as const).map(async (table) => {
      const rows = await store.read
        .selectFrom(countsIn(store.read, table))
        .selectAll()
        .where('site_no', '=', siteNo)
        .execute()
      return rows.map((row) => JSON.stringify({ ...row, site_no: 0 })).sort()
    }),
  )

/** The same store, which does `act` before its batch number `call`, counted from 1. */
function actingBefore(store: Store, call: number, act: () => Promise<void>): Store {
  let calls = 0
  return {
    ...store,
    async batch(operations, options) {
      if (++calls === call) await act()
      await store.batch(operations, options)
    },
  }
}

testOnEveryEngine('a bucket derived in slices has the same rows as one derived at once', async (store) => {
  const [whole, sliced] = [await insertSite(store), await insertSite(store, { timezone: 'Asia/Kolkata' })]
  const reference = await insertSite(store, { timezone: 'Asia/Kolkata' })
  const early = (siteNo: number) =>
    send(store, deltaOf(siteNo, [eventPayload({ timestamp_ms: MIDNIGHT - HOUR })], MIDNIGHT))
  for (const { site_no } of [whole, sliced, reference]) {
    await sendMuch(store, site_no)
    // An hour before them that is small enough to be derived at once, with minutes that must stay.
    await early(site_no)
  }
  const later = MIDNIGHT + 2 * DAY
  await rollUp(store, later)
  const expected = await allRows(store, reference.site_no)
  assert.ok(expected.every((rows) => rows.length > 0))
  assert.deepEqual(await allRows(store, sliced.site_no), expected)
  // Once more, over what is there already: six rows are half a container, 20 one and a half.
  for (const rowsAtOnce of [1, 6, 20]) {
    await sendMuch(store, sliced.site_no)
    await sendMuch(store, reference.site_no)
    await store.write.deleteFrom('dirty_buckets').where('site_no', '=', reference.site_no).execute()
    assert.equal(await rollUp(store, later, { rowsAtOnce }), 3)
    const { site_no } = reference
    await store.write
      .insertInto('dirty_buckets')
      .values([0, HOUR].map((offset) => ({ site_no, grain: GRAIN.hour, bucket: MIDNIGHT + offset })))
      .execute()
    await rollUp(store, later)
    assert.deepEqual(await allRows(store, sliced.site_no), await allRows(store, site_no))
    const [minutes, ...coarser] = await Promise.all(
      [GRAIN.minute, GRAIN.hour, GRAIN.day].map((grain) => totalEvents(store, sliced.site_no, grain)),
    )
    assert.deepEqual(coarser, [minutes, minutes])
  }
})

testOnEveryEngine('the parts of a large hour are moved a few counts at a time', async (store) => {
  const { site_no } = await insertSite(store)
  await sendMuch(store, site_no, 1)
  const taken: number[] = []
  const watched: Store = {
    ...store,
    batch(operations, options) {
      taken.push(operations.filter((each) => each.kind === 'statement' && DELETES_PARTS.test(each.query.sql)).length)
      return store.batch(operations, options)
    },
  }
  await rollUp(watched, MIDNIGHT + 2 * HOUR, { rowsAtOnce: 6 })
  // Of each of the three minutes first the pairs, then all else.
  assert.deepEqual(
    taken.filter((count) => count > 0),
    [1, 1, 1, 2, 2, 2],
  )
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 48)
})

testOnEveryEngine('a large hour keeps the tags of its events also where these are few', async (store) => {
  const { site_no } = await insertSite(store)
  const tags = [{ id: '12', name: 'GA4', status: 'failure' as const }]
  const events = Array.from({ length: 9 }, (_, n) =>
    eventPayload({ timestamp_ms: MIDNIGHT, event_name: `event ${n}`, tags: n === 0 ? tags : [] }),
  )
  await send(store, deltaOf(site_no, events, MIDNIGHT))
  await rollUp(store, MIDNIGHT + 2 * HOUR, { rowsAtOnce: 6 })
  const pairs = store.read.selectFrom('event_tag_rollups').select(['grain', 'bucket', 'event_name', 'failure'])
  assert.deepEqual(await pairs.execute(), [{ grain: GRAIN.hour, bucket: MIDNIGHT, event_name: 'event 0', failure: 1 }])
})

testOnEveryEngine(
  'a bucket that a fold adds to between two slices stays dirty, and the next round derives it',
  async (store) => {
    const { site_no } = await insertSite(store)
    await sendMuch(store, site_no, 1)
    const later = MIDNIGHT + 2 * HOUR
    const late = deltaOf(site_no, [eventPayload({ timestamp_ms: MIDNIGHT, container_id: 'a' })], later)
    for (let call = 2; ; call++) {
      let isReached = false
      const disturbed = actingBefore(store, call, async () => {
        isReached = true
        await send(store, late)
      })
      await store.write.updateTable('dirty_buckets').set({ writes: 7 }).execute()
      await rollUp(disturbed, later, { rowsAtOnce: 6 })
      const isMarked =
        (await store.read.selectFrom('dirty_buckets').select('site_no').where('grain', '=', 3600).execute()).length ===
        1
      assert.equal(isMarked, isReached)
      if (!isReached) break
      assert.ok(call < 100)
    }
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), await totalEvents(store, site_no, GRAIN.minute))
  },
)

testOnEveryEngine(
  'a bucket that another node derives between two slices, and a fold makes dirty again, is not taken for the same',
  async (store) => {
    const later = MIDNIGHT + 2 * HOUR
    for (let call = 2, isReached = true; isReached; call++) {
      assert.ok(call < 100)
      isReached = false
      const { site_no } = await insertSite(store)
      await sendMuch(store, site_no, 1)
      const slow = actingBefore(store, call, async () => {
        isReached = true
        await rollUp(store, later, { rowsAtOnce: 6 })
        await send(store, deltaOf(site_no, [eventPayload({ timestamp_ms: MIDNIGHT, container_id: 'a' })], later))
      })
      await rollUp(slow, later, { rowsAtOnce: 6 })
      await rollUpAll(store, later, { rowsAtOnce: 6 })
      assert.equal(await totalEvents(store, site_no, GRAIN.hour), await totalEvents(store, site_no, GRAIN.minute))
    }
  },
)

testOnEveryEngine(
  'a node that was suspended between two slices leaves the hour alone whose minutes were deleted meanwhile',
  async (store) => {
    const later = MIDNIGHT + 2 * HOUR
    for (const isLateToo of [false, true]) {
      for (let call = 2, isReached = true; isReached; call += amount(3, 1)) {
        assert.ok(call < 100)
        isReached = false
        const { site_no } = await insertSite(store)
        await sendMuch(store, site_no, 1)
        const late = deltaOf(site_no, [eventPayload({ timestamp_ms: MIDNIGHT, container_id: 'a' })], MIDNIGHT)
        const suspended = actingBefore(store, call, async () => {
          isReached = true
          await rollUp(store, later)
          await applyRetention(store, RETENTION, MIDNIGHT + 9 * DAY, () => true)
          if (isLateToo) await send(store, late)
        })
        await rollUp(suspended, later, { rowsAtOnce: 6 })
        await rollUp(store, later)
        assert.equal(await totalEvents(store, site_no, GRAIN.hour), isReached && isLateToo ? 49 : 48)
      }
    }
  },
)

testOnEveryEngine('a bucket that fails does not block the others, and backs off for a while', async (store) => {
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const { site_no } of sites) {
    await send(store, deltaOf(site_no, [eventPayload({ timestamp_ms: MIDNIGHT })], MIDNIGHT))
  }
  const bad = sites[0]?.site_no ?? 0
  let tries = 0
  const failing: Store = {
    ...store,
    batch(operations, options) {
      const [take] = operations
      if (take?.kind === 'statement' && take.query.parameters[0] === bad) {
        tries++
        return Promise.reject(new StoreError('busy', 'canceling statement due to statement timeout'))
      }
      return store.batch(operations, options)
    },
  }
  const backoff = new Backoff()
  const later = MIDNIGHT + 2 * HOUR
  await assert.rejects(rollUp(failing, later, { backoff }), /statement timeout/)
  const hours = await Promise.all(sites.map(({ site_no }) => totalEvents(store, site_no, GRAIN.hour)))
  assert.deepEqual(hours, [0, 1, 1])
  assert.equal(await rollUp(failing, later + MINUTE - 1, { backoff }), 0)
  assert.equal(tries, 1)
  await assert.rejects(rollUp(failing, later + MINUTE, { backoff }), /statement timeout/)
  assert.equal(await rollUp(store, later + 2 * MINUTE, { backoff }), 0)
  assert.equal(await rollUp(store, later + 3 * MINUTE, { backoff }), 1)
  assert.equal(await totalEvents(store, bad, GRAIN.hour), 1)
})

testOnEveryEngine('retention and removal delete few rows at once, also of one minute', async (store) => {
  const { site_no } = await insertSite(store)
  const rows = Array.from({ length: 4_500 }, (_, row) => ({
    site_no,
    container_id: `c ${row}`,
    tag_id: 'id',
    tag_name: 'name',
    last_seen_at: MIDNIGHT,
  }))
  for (let start = 0; start < rows.length; start += 500) {
    await store.write
      .insertInto('tag_names')
      .values(rows.slice(start, start + 500))
      .execute()
  }
  const left = async () => (await store.read.selectFrom('tag_names').select('tag_id').execute()).length
  const now = MIDNIGHT + 500 * DAY
  // Asked once before each step: those that find nothing, one of 2,000 and one of as many more.
  const after = async (steps: number) => {
    let asked = 0
    await applyRetention(store, RETENTION, now, () => asked++ < steps)
    return asked
  }
  const seen = new Set<number>()
  for (let steps = 1; (await left()) > 0; steps++) {
    await after(steps)
    seen.add(await left())
  }
  assert.ok([...seen].some((count) => count > 0 && count < rows.length))
  assert.equal(await left(), 0)
})
