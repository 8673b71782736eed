import assert from 'node:assert/strict'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { writeFetchedCounts } from '../../src/reconciliation/index.ts'
import { NOW } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const FIRST = NOW - 14 * DAY - (NOW % HOUR)

/** So many hours of so many events. */
const countsOf = (events: number, hours: number, count = 3, source = 'GA4') =>
  Array.from({ length: events * hours }, (_, n) => ({
    source,
    event: `event_${n % events}`,
    hour: FIRST + Math.floor(n / events) * HOUR,
    count,
  }))

testOnEveryEngine('fetched counts are written once, changes alone after that, and in no audit entry', async (store) => {
  const site = await insertSite(store)
  const write = (counts: ReturnType<typeof countsOf>) => writeFetchedCounts(store, site, counts)
  // More than one statement takes.
  const counts = countsOf(4, 300)
  assert.equal(await write(counts), 1_200)
  assert.equal(await write(counts), 0)
  assert.equal(await write(counts.map((each, n) => (n === 7 ? { ...each, count: 9 } : each))), 1)
  assert.equal(await write([]), 0)
  const rows = await store.read.selectFrom('reference_counts').selectAll().execute()
  assert.deepEqual([rows.length, rows.reduce((sum, { total }) => sum + total, 0)], [1_200, 3 * 1_200 + 6])
  assert.deepEqual(await store.read.selectFrom('audit_log').selectAll().execute(), [])
})

testOnEveryEngine('fetched counts keep to the sources and events of a site, and to one source', async (store) => {
  const site = await insertSite(store)
  const write = (counts: ReturnType<typeof countsOf>) => writeFetchedCounts(store, site, counts)
  for (let n = 0; n < 10; n++) await write(countsOf(1, 1, 1, `source_${n}`))
  await assert.rejects(write(countsOf(1, 1)), { code: 'conflict', message: /would have 11 sources/ })
  await assert.rejects(write(countsOf(21, 1, 1, 'source_1')), { code: 'conflict', message: /would have 21 events/ })
  await assert.rejects(write([...countsOf(1, 1), ...countsOf(1, 1, 1, 'other')]), /several sources/)
  await assert.rejects(
    writeFetchedCounts(store, { ...site, id: '00000000-0000-4000-8000-00000000dead' }, countsOf(1, 2, 7)),
    { code: 'not_found' },
  )
})
