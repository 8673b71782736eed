import assert from 'node:assert/strict'
import { Delta, Folder, foldJournal } from '../../src/journal/index.ts'
import type { EventPayload } from '../../src/journal/payload.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { GRAIN, mergeParts, rollUp, type SiteMinute } from '../../src/rollups/index.ts'
import { type Store, totalOf } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { addTo, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const MIDNIGHT = Date.parse('2026-11-20T00:00:00.000Z')
const NOW = MIDNIGHT + 30 * HOUR
const FOLDS = 6
const TAGS = [{ id: '12', name: 'GA4', status: 'failure' as const, execution_time: 84 }]

/** A node that gets late events of the same two hours for every site, and folds them. */
async function foldLateEvents(store: Store, nodeId: string, siteNos: readonly number[]): Promise<void> {
  const folder = new Folder(store, () => 'client', { rowsPerChunk: 20 })
  for (let seq = 1; seq <= FOLDS; seq++) {
    const delta = new Delta()
    for (const siteNo of siteNos) {
      const events = [10, 70].map((minutes) =>
        eventPayload({ tags: TAGS, timestamp_ms: MIDNIGHT + (minutes + seq) * MINUTE }),
      )
      addTo(delta, deltaOf(siteNo, events, MIDNIGHT + 3 * HOUR))
    }
    await writeJournal(store, nodeId, seq, delta)
    await foldJournal(store, folder, { nodeId })
  }
}

testOnEveryEngine(
  'hours and days that are derived while several nodes fold into them and merge parts miss nothing',
  async (store) => {
    const siteNos: number[] = []
    for (let i = 0; i < 5; i++) siteNos.push((await insertSite(store)).site_no)
    const nodes = ['a', 'b', 'c']
    let isFolding = true
    const rollUpAllAlong = async () => {
      while (isFolding) await rollUp(store, NOW)
    }
    const minutes = siteNos.flatMap((siteNo) =>
      Array.from({ length: FOLDS }, (_, seq) =>
        [11 + seq, 71 + seq].map((n) => ({ siteNo, minute: MIDNIGHT + n * MINUTE })),
      ),
    )
    const mergeAllAlong = async (due: readonly SiteMinute[]) => {
      while (isFolding) await mergeParts(store, due)
    }
    const rollingUp = [
      rollUpAllAlong(),
      rollUpAllAlong(),
      mergeAllAlong(minutes.flat()),
      mergeAllAlong(minutes.flat().reverse()),
    ]
    await Promise.all(nodes.map((nodeId) => foldLateEvents(store, nodeId, siteNos)))
    isFolding = false
    await Promise.all(rollingUp)
    await rollUpAll(store, NOW)
    for (const siteNo of siteNos) {
      const expected = nodes.length * FOLDS * 2
      assert.deepEqual(
        [await totalEvents(store, siteNo), await totalEvents(store, siteNo, GRAIN.hour)],
        [expected, expected],
      )
      assert.equal(await totalEvents(store, siteNo, GRAIN.day), expected)
      const pairs = await store.read
        .selectFrom('event_tag_rollups')
        .select(['grain', totalOf('failure').as('failures')])
        .where('site_no', '=', siteNo)
        .groupBy('grain')
        .orderBy('grain')
        .execute()
      assert.deepEqual(pairs, [
        { grain: GRAIN.hour, failures: expected },
        { grain: GRAIN.day, failures: expected },
      ])
    }
    assert.deepEqual(await store.read.selectFrom('dirty_buckets').selectAll().execute(), [])
  },
)

const rollUpHours = async (store: Store) => void (await rollUp(store, MIDNIGHT + 2 * HOUR))
/** What happens between the roll-up's look and its transaction: the first one is that of the hour, the second that of the day. */
const others = [
  { who: 'a fold writes', batch: 1 },
  // The bucket that the fold makes dirty then has as many writes as the one that was read.
  { who: 'a fold writes after another node has rolled up the hour', batch: 1, before: rollUpHours },
  { who: 'another node adds up', batch: 2, after: rollUpHours },
]
for (const { who, batch, before, after } of others) {
  testOnEveryEngine(
    `what ${who} in a table that was empty when the roll-up looked is in hour and day all the same`,
    async (store) => {
      const { site_no } = await insertSite(store)
      const folder = new Folder(store, () => 'client')
      const fold = async (seq: number, over: Partial<EventPayload>) => {
        const one = eventPayload({ timestamp_ms: MIDNIGHT + 10 * MINUTE, ...over })
        await writeJournal(store, 'node', seq, deltaOf(site_no, [one], MIDNIGHT + HOUR))
        await foldJournal(store, folder, { nodeId: 'node' })
      }
      await fold(1, {})
      let batches = 0
      const slow = steppingStore(store, async (what) => {
        if (what !== 'batch' || ++batches !== batch) return
        await before?.(store)
        await fold(2, { consent: { ad_storage: 'denied' }, fields: { coupon: true } })
        await after?.(store)
      })
      await rollUp(slow, NOW)
      assert.ok(batches >= batch)
      await rollUpAll(store, NOW)
      for (const grain of [GRAIN.hour, GRAIN.day]) {
        assert.equal(await totalEvents(store, site_no, grain), 2)
        const signals = store.read
          .selectFrom(countsIn(store.read, 'signal_rollups'))
          .select('ad_storage_denied')
          .where('grain', '=', grain)
        assert.deepEqual(await signals.execute(), [{ ad_storage_denied: 1 }])
        const fields = store.read
          .selectFrom(countsIn(store.read, 'field_rollups'))
          .select('present')
          .where('grain', '=', grain)
        assert.deepEqual(await fields.execute(), [{ present: 1 }])
      }
      assert.deepEqual(await store.read.selectFrom('dirty_buckets').selectAll().execute(), [])
    },
  )
}
