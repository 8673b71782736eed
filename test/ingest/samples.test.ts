import assert from 'node:assert/strict'
import { checkPayload } from '../../src/ingest/check.ts'
import { SAMPLES_PER_SITE, SampleRecorder } from '../../src/ingest/samples.ts'
import { HOUR } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'

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
  const nodes = [new SampleRecorder(store), new SampleRecorder(store)]
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
  const samples = new SampleRecorder(store)
  for (let i = 0; i < SAMPLES_PER_SITE; i++) samples.accepted(1, eventPayload({ timestamp_ms: i }), 300, NOW)
  await samples.flush()
  const rows = await kept(store, 1)
  assert.deepEqual(
    rows.map((row) => (JSON.parse(row.payload) as { timestamp_ms: number }).timestamp_ms),
    Array.from({ length: SAMPLES_PER_SITE }, (_, i) => i),
  )
})

testOnEveryEngine('what comes after a clock that was ahead is the newest, also after a restart', async (store) => {
  for (const at of [NOW + HOUR, NOW]) {
    const started = new SampleRecorder(store)
    for (let i = 0; i < SAMPLES_PER_SITE; i++) {
      started.accepted(1, eventPayload({ timestamp_ms: at }), 300, at)
      started.rejected(1, 'invalid_payload', '/tags', at)
    }
    await started.flush()
  }
  const rejections = await store.read.selectFrom('rejections').select('rejected_at').execute()
  const times = [...(await kept(store, 1)).map((row) => row.accepted_at), ...rejections.map((row) => row.rejected_at)]
  assert.deepEqual(
    times,
    Array.from({ length: 2 * SAMPLES_PER_SITE }, () => NOW),
  )
})

testOnEveryEngine('the last ones of each site stay when several processes write and prune at once', async (store) => {
  const nodes = Array.from({ length: 3 }, () => new SampleRecorder(store))
  for (let round = 0; round < 5; round++) {
    for (const [n, node] of nodes.entries()) {
      // Each meets the sites in another order.
      for (const siteNo of [...SITES.slice(n), ...SITES.slice(0, n)]) {
        for (let i = 0; i < SAMPLES_PER_SITE; i++) {
          const at = NOW + round * 1_000 + n * 100 + i
          node.accepted(siteNo, eventPayload({ timestamp_ms: at }), 300, at)
          node.rejected(siteNo, 'invalid_payload', '/tags', at)
        }
      }
    }
    await Promise.all(nodes.map((node) => node.flush()))
  }
  const newest = NOW + 4 * 1_000 + 2 * 100 + SAMPLES_PER_SITE - 1
  for (const siteNo of SITES) {
    const rows = await kept(store, siteNo)
    assert.ok(rows.length >= SAMPLES_PER_SITE && rows.length <= nodes.length * 2 * SAMPLES_PER_SITE)
    assert.equal(rows.at(-1)?.accepted_at, newest)
  }
  const counts = await store.read
    .selectFrom('rejection_counts')
    .select(['site_no', 'total'])
    .orderBy('site_no')
    .execute()
  const total = 5 * nodes.length * SAMPLES_PER_SITE
  assert.deepEqual(
    counts,
    SITES.toSorted().map((site_no) => ({ site_no, total })),
  )
})

testOnEveryEngine(
  'of large payloads of a site only some are kept, and all of the small ones of others',
  async (store) => {
    const samples = new SampleRecorder(store)
    for (let i = 0; i < SAMPLES_PER_SITE; i++) {
      samples.accepted(1, eventPayload({ timestamp_ms: i }), 60_000, NOW)
      samples.accepted(2, eventPayload({ timestamp_ms: i }), 2_000, NOW)
    }
    await samples.flush()
    assert.equal((await kept(store, 1)).length, 2)
    assert.equal((await kept(store, 2)).length, SAMPLES_PER_SITE)
    samples.accepted(1, eventPayload({ timestamp_ms: 1 }), 60_000, NOW + 1)
    await samples.flush()
    assert.equal((await kept(store, 1)).length, 3)
  },
)

testOnEveryEngine('a rejection is kept even when its path holds characters that no database can', async (store) => {
  const samples = new SampleRecorder(store)
  const checked = checkPayload({ ...BATCH, event_counts: { 'a\0b\ud800': 'x' } })
  assert.ok(!checked.ok)
  samples.rejected(1, 'invalid_payload', checked.path, NOW)
  await samples.flush()
  const rows = await store.read.selectFrom('rejections').select('path').execute()
  assert.deepEqual(rows, [{ path: '/event_counts/a\ufffdb\ufffd' }])
})

testLogic('samples of many sites are written in several commits, so that none takes long', async (store) => {
  const commits: number[] = []
  const watched: Store = {
    ...store,
    async batch(operations, options) {
      commits.push(operations.filter(({ kind }) => kind === 'upsert').length)
      await store.batch(operations, options)
    },
  }
  const samples = new SampleRecorder(watched)
  const sites = [1, 2, 3, 4, 5]
  for (const siteNo of sites) {
    for (let i = 0; i < SAMPLES_PER_SITE; i++) samples.accepted(siteNo, eventPayload({ timestamp_ms: NOW }), 300, NOW)
  }
  await samples.flush()
  assert.equal(commits.length, 3) // two sites, two sites, one
  for (const siteNo of sites) assert.equal((await kept(store, siteNo)).length, SAMPLES_PER_SITE)
})

testLogic('sites that are refused all the time leave others room for what theirs were refused for', async (store) => {
  const samples = new SampleRecorder(store)
  const loud = Array.from({ length: 20 }, (_, index) => index + 1)
  for (let i = 0; i < SAMPLES_PER_SITE; i++) {
    for (const siteNo of loud) {
      samples.accepted(siteNo, eventPayload({ timestamp_ms: NOW }), 300, NOW)
      samples.rejected(siteNo, 'rate_limited', 'requests per second', NOW)
    }
  }
  for (let siteNo = 101; siteNo <= 140; siteNo++) {
    samples.rejected(siteNo, 'invalid_payload', '/tags', NOW)
    samples.accepted(siteNo, eventPayload({ timestamp_ms: NOW }), 300, NOW)
  }
  await samples.flush()
  const rejections = await store.read.selectFrom('rejections').select(['site_no', 'path']).execute()
  const payloads = await store.read.selectFrom('recent_payloads').select('site_no').execute()
  assert.equal(rejections.filter(({ path }) => path === '/tags').length, 40)
  assert.equal(payloads.filter(({ site_no }) => site_no > 100).length, 40)
  assert.ok(rejections.length + payloads.length <= 500)
})
