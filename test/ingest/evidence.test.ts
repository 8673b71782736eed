import assert from 'node:assert/strict'
import { checkPayload } from '../../src/ingest/check.ts'
import { Evidence, KEPT_PER_SITE } from '../../src/ingest/evidence.ts'
import type { Store } from '../../src/store/index.ts'
import { eventPayload } from '../support/deltas.ts'
import { testOnEveryEngine } from '../support/engines.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const SITES = [3, 1, 2]
const BATCH = { container_id: 'GTM-A', batch: true, window_start_ms: 1, window_end_ms: 2, total_events: 1 }

const kept = (store: Store, siteNo: number) =>
  store.read
    .selectFrom('recent_payloads')
    .select(['id', 'accepted_at', 'payload'])
    .where('site_no', '=', siteNo)
    .orderBy('id')
    .execute()

testOnEveryEngine('what several processes keep of a site is in the order of time', async (store) => {
  const nodes = [new Evidence(store), new Evidence(store)]
  for (let ms = 0; ms < 20; ms++) nodes[ms % 2]?.accepted(1, eventPayload({ timestamp_ms: NOW }), 300, NOW + ms)
  await Promise.all(nodes.map((node) => node.flush()))
  const rows = await kept(store, 1)
  assert.deepEqual(
    rows.map((row) => row.accepted_at - NOW),
    Array.from({ length: 20 }, (_, ms) => ms),
  )
  assert.ok(rows.every((row) => Number.isSafeInteger(row.id)))
})

testOnEveryEngine('what one process keeps of one millisecond is in the order of arrival', async (store) => {
  const evidence = new Evidence(store)
  for (let i = 0; i < KEPT_PER_SITE; i++) evidence.accepted(1, eventPayload({ timestamp_ms: i }), 300, NOW)
  await evidence.flush()
  const rows = await kept(store, 1)
  assert.deepEqual(
    rows.map((row) => (JSON.parse(row.payload) as { timestamp_ms: number }).timestamp_ms),
    Array.from({ length: KEPT_PER_SITE }, (_, i) => i),
  )
})

testOnEveryEngine('the last ones of each site stay when several processes write and prune at once', async (store) => {
  const nodes = Array.from({ length: 3 }, () => new Evidence(store))
  for (let round = 0; round < 5; round++) {
    for (const [n, node] of nodes.entries()) {
      // Each meets the sites in another order.
      for (const siteNo of [...SITES.slice(n), ...SITES.slice(0, n)]) {
        for (let i = 0; i < KEPT_PER_SITE; i++) {
          const at = NOW + round * 1_000 + n * 100 + i
          node.accepted(siteNo, eventPayload({ timestamp_ms: at }), 300, at)
          node.rejected(siteNo, 'invalid_payload', '/tags', at)
        }
      }
    }
    await Promise.all(nodes.map((node) => node.flush()))
  }
  const newest = NOW + 4 * 1_000 + 2 * 100 + KEPT_PER_SITE - 1
  for (const siteNo of SITES) {
    const rows = await kept(store, siteNo)
    assert.ok(rows.length >= KEPT_PER_SITE && rows.length <= nodes.length * 2 * KEPT_PER_SITE)
    assert.equal(rows.at(-1)?.accepted_at, newest)
  }
  const counts = await store.read
    .selectFrom('rejection_counts')
    .select(['site_no', 'total'])
    .orderBy('site_no')
    .execute()
  const total = 5 * nodes.length * KEPT_PER_SITE
  assert.deepEqual(
    counts,
    SITES.toSorted().map((site_no) => ({ site_no, total })),
  )
})

testOnEveryEngine('large payloads of a site are a sample, and small ones of others are all kept', async (store) => {
  const evidence = new Evidence(store)
  for (let i = 0; i < KEPT_PER_SITE; i++) {
    evidence.accepted(1, eventPayload({ timestamp_ms: i }), 60_000, NOW)
    evidence.accepted(2, eventPayload({ timestamp_ms: i }), 2_000, NOW)
  }
  await evidence.flush()
  assert.equal((await kept(store, 1)).length, 2)
  assert.equal((await kept(store, 2)).length, KEPT_PER_SITE)
  evidence.accepted(1, eventPayload({ timestamp_ms: 1 }), 60_000, NOW + 1)
  await evidence.flush()
  assert.equal((await kept(store, 1)).length, 3)
})

testOnEveryEngine('a refusal whose place holds what a database cannot is kept all the same', async (store) => {
  const evidence = new Evidence(store)
  const checked = checkPayload({ ...BATCH, event_counts: { 'a\0b\ud800': 'x' } })
  assert.ok(!checked.ok)
  evidence.rejected(1, 'invalid_payload', checked.path, NOW)
  await evidence.flush()
  const rows = await store.read.selectFrom('rejections').select('path').execute()
  assert.deepEqual(rows, [{ path: '/event_counts/a\ufffdb\ufffd' }])
})
