import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CanaryBook, withoutCanaries } from '../../src/ingest/canaries.ts'
import { CANARY_PREFIX, isCanaryOf, newCanaryName } from '../../src/management/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertClient, insertSite } from '../../testkit/sites.ts'
import { listen, NOW } from './endpoint-support.ts'

const TAGS = [
  { id: '1', name: 'GA4', status: 'success' as const },
  { id: '2', status: 'success' as const },
]

const arrivals = (store: Store) =>
  store.read
    .selectFrom('canary_arrivals')
    .select(['site_no', 'event_name', 'arrived_at', 'is_batched', 'tags'])
    .orderBy('event_name')
    .execute()

/** What would be counted, and what would be shown. */
async function kept(store: Store) {
  const [journal, payloads] = await Promise.all([
    store.read.selectFrom('journal').select('payload').execute(),
    store.read.selectFrom('recent_payloads').select('payload').execute(),
  ])
  return { journal: journal.map(({ payload }) => payload).join('\n'), samples: payloads.length }
}

test('a name of a canary fits GA4, and only who has the key of the site can make one', () => {
  const name = newCanaryName('key')
  assert.match(name, /^tagwarden_canary_[0-9a-f]{20}$/)
  assert.ok(name.length <= 40)
  assert.ok(isCanaryOf('key', name))
  assert.ok(!isCanaryOf('another key', name))
  assert.ok(!isCanaryOf('key', `${name.slice(0, -1)}${name.endsWith('0') ? '1' : '0'}`))
  assert.notEqual(newCanaryName('key'), name)
})

test('an event that only looks like a canary is no more counted than one', () => {
  const forged = event(NOW, { event_name: `${CANARY_PREFIX}whatever` })
  assert.equal(withoutCanaries(forged).payload, null)
  const other = event(NOW, { event_name: 'my_tagwarden_canary_x' })
  assert.deepEqual(withoutCanaries(other), { payload: other, canaries: null })
})

test('a batch is counted without its canaries, and not at all when it holds nothing else', () => {
  const name = newCanaryName('key')
  const counts = { page_view: 3, [name]: 2 }
  const mixed = withoutCanaries(batch(NOW, { total_events: 7, event_counts: counts }))
  assert.deepEqual(mixed.payload, batch(NOW, { total_events: 5, event_counts: { page_view: 3 } }))
  assert.deepEqual(mixed.canaries, { names: [name], isBatched: true, tags: [] })
  const alone = batch(NOW, { total_events: 1, event_counts: { [name]: 1 }, tag_metrics: { GA4: { count: 1 } } })
  assert.equal(withoutCanaries(alone).payload, null)
})

testOnEveryEngine(
  'a canary is noted with the tags that ran on it, and is in no count, sample or quota',
  async (store, t) => {
    const client = await insertClient(store, { requests_per_second: 10, events_per_month: 1 })
    const site = await insertSite(store, { client_id: client.id })
    const { send, canaries, samples } = await listen(t, store)
    const names = [newCanaryName(site.ingest_key), newCanaryName(site.ingest_key)].toSorted()
    for (const event_name of [...names, `${CANARY_PREFIX}forged`]) {
      assert.equal(await send(site, JSON.stringify(event(NOW, { event_name, tags: TAGS }))), 200)
    }
    await canaries.flush()
    await samples.flush()
    const arrived = { site_no: site.site_no, arrived_at: NOW, is_batched: 0, tags: '["GA4","tag_2"]' }
    assert.deepEqual(
      await arrivals(store),
      names.map((event_name) => ({ ...arrived, event_name })),
    )
    assert.deepEqual(await kept(store), { journal: '', samples: 0 })
    // The one event of its month is still there to be used, and only one.
    assert.equal(await send(site, JSON.stringify(event(NOW))), 200)
    assert.equal(await send(site, JSON.stringify(event(NOW))), 429)
  },
)

testOnEveryEngine(
  'a canary in a large body or a batch arrives as well, and the first arrival stands',
  async (store, t) => {
    const site = await insertSite(store)
    const { send, canaries } = await listen(t, store)
    const [large, batched] = [newCanaryName(site.ingest_key), newCanaryName(site.ingest_key)]
    const body = JSON.stringify(event(NOW, { event_name: large }))
    assert.equal(await send(site, `${body}${' '.repeat(20_000)}`), 200)
    const counts = batch(NOW, { total_events: 2, event_counts: { page_view: 1, [batched]: 1 } })
    assert.equal(await send(site, JSON.stringify(counts)), 200)
    await canaries.flush()
    assert.equal(await send(site, JSON.stringify(event(NOW, { event_name: batched, tags: TAGS }))), 200)
    await canaries.flush()
    const rows = await arrivals(store)
    assert.deepEqual(
      new Map(rows.map(({ event_name, is_batched, tags }) => [event_name, [is_batched, tags]])),
      new Map([
        [large, [0, '[]']],
        [batched, [1, '[]']],
      ]),
    )
    const { journal } = await kept(store)
    assert.match(journal, /page_view/)
    assert.doesNotMatch(journal, /canary/)
  },
)

testLogic('who floods ingest with canaries of their own writes a few rows a minute', async (store) => {
  const sites = await Promise.all([insertSite(store), insertSite(store)])
  const book = new CanaryBook(store)
  const arrive = ({ site_no, ingest_key }: SiteRow, times: number, now: number) => {
    for (let i = 0; i < times; i++) {
      const names = [newCanaryName(ingest_key)]
      book.arrived({ siteNo: site_no, keys: [ingest_key] }, { names, isBatched: false, tags: [] }, now)
    }
  }
  const [flooded, other] = sites
  arrive(flooded, 500, NOW)
  arrive(other, 2, NOW)
  await book.flush()
  arrive(flooded, 500, NOW + 60_000)
  await book.flush()
  const rows = await arrivals(store)
  const of = ({ site_no }: SiteRow) => rows.filter((row) => row.site_no === site_no).length
  assert.deepEqual([of(flooded), of(other)], [40, 2])
})
