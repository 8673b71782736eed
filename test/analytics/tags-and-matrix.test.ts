import assert from 'node:assert/strict'
import { matrix, tag, timeseries } from '../../src/analytics/index.ts'
import { AppError, DAY, HOUR } from '../../src/lib/index.ts'
import { chunksOf } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from './support.ts'

const NOW = '2026-11-20T12:34:30Z'
const at = (time: string) => `2026-11-20T${time}Z`
const window = { from: Date.parse(at('10:20:00')), to: Date.parse(at('11:20:00')) }

const payloads = [
  event(at('10:30:00'), {
    event_name: 'purchase',
    tags: [
      { id: '1', name: 'GA4', status: 'success', execution_time: 20 },
      { id: '2', name: 'Meta', status: 'failure' },
    ],
  }),
  event(at('11:05:00'), { event_name: 'purchase', tags: [{ id: '1', status: 'timeout', execution_time: 20 }] }),
  event(at('11:05:00'), { tags: [{ id: '1', name: 'GA4', status: 'success', execution_time: 20 }] }),
  event(at('10:10:00'), { event_name: 'early', tags: [{ id: '1', name: 'GA4', status: 'exception' }] }),
  batch(at('11:05:00'), { tag_metrics: { GA4: { success: 5, failure: 0, timeout: 0, exception: 0, count: 5 } } }),
]

testOnEveryEngine('a tag is shown with how it ended on each event', async (store) => {
  const site = await insertSite(store)
  await count(store, site, payloads)
  const seen = await tag(reportContext(store, NOW), site, 'GA4', window)
  assert.equal(seen.site_id, site.id)
  assert.deepEqual([seen.from, seen.to], [window.from, window.to])
  assert.deepEqual([seen.tag_key, seen.tag_id, seen.tag_name], ['GA4', '1', 'GA4'])
  assert.deepEqual([seen.executions, seen.success, seen.timeout, seen.exception], [8, 7, 1, 0])
  // Which event a tag ran on is kept per hour, so what ran at 10:10 is in it.
  assert.deepEqual(seen.events_window, { from: Date.parse(at('10:00:00')), to: Date.parse(at('12:00:00')) })
  assert.deepEqual(seen.events, [
    { event_name: 'purchase', executions: 2, success: 1, failure: 0, timeout: 1, exception: 0 },
    { event_name: 'early', executions: 1, success: 0, failure: 0, timeout: 0, exception: 1 },
    { event_name: 'page_view', executions: 1, success: 1, failure: 0, timeout: 0, exception: 0 },
  ])
})

testLogic('a tag is found by its id and by a name it had before', async (store) => {
  const site = await insertSite(store)
  const renamed = event(at('11:06:00'), { tags: [{ id: '1', name: 'GA4 (new)', status: 'success' }] })
  await count(store, site, [...payloads, renamed])
  for (const key of ['tag_1', 'GA4', 'GA4 (new)']) {
    const seen = await tag(reportContext(store, NOW), site, key, window)
    assert.deepEqual([seen.tag_key, seen.executions], ['GA4 (new)', 9])
  }
})

testOnEveryEngine('a tag that had thousands of names has a report and a chart of weeks', async (store) => {
  const site = await insertSite(store)
  const now = Date.parse(NOW)
  const link = { site_no: site.site_no, container_id: 'GTM-ABC1234', tag_id: '1' }
  const links = Array.from({ length: 5_000 }, (_, i) => ({
    ...link,
    tag_name: `GA4 ${i}`,
    last_seen_at: now - DAY + i,
  }))
  for (const chunk of chunksOf(links)) await store.write.insertInto('tag_names').values(chunk).execute()
  const runs = Array.from({ length: 40 }, (_, i) => {
    const tags = [
      { id: '1', name: `GA4 ${4_999 - i}` },
      { id: '2', name: 'Meta' },
    ]
    return event(now - i * 7 * HOUR, { tags: tags.map((one) => ({ ...one, status: 'success' })) })
  })
  await count(store, site, runs)
  const context = reportContext(store, NOW)
  const seen = await tag(context, site, 'tag_1', { hours: 480 })
  assert.deepEqual([seen.tag_key, seen.executions], ['GA4 4999', 40])
  assert.deepEqual(
    seen.events.map(({ executions }) => executions),
    [40],
  )
  for (const group of [{}, { group_by: 'event_name' } as const]) {
    const { series } = await timeseries(context, site, { metric: 'executions', tag_key: 'tag_1', hours: 480, ...group })
    const points = series.flatMap((one) => one.points)
    assert.equal(
      points.reduce((sum, { value }) => sum + (value ?? 0), 0),
      40,
    )
  }
})

testLogic('a tag that did not run in the window is not found', async (store) => {
  const site = await insertSite(store)
  await count(store, site, payloads)
  const isNotFound = (thrown: unknown) => thrown instanceof AppError && thrown.code === 'not_found'
  const context = reportContext(store, NOW)
  await assert.rejects(tag(context, site, 'nobody', window), isNotFound)
  const later = { from: Date.parse(at('11:10:00')), to: Date.parse(at('11:20:00')) }
  await assert.rejects(tag(context, site, 'GA4', later), isNotFound)
})

testLogic('an unnamed tag of one container is distinguished from the named one of another', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [
    event(at('11:00:00'), { container_id: 'A', tags: [{ id: '1', name: 'GA4', status: 'success' }] }),
    event(at('11:00:00'), { container_id: 'B', tags: [{ id: '1', status: 'failure' }] }),
  ])
  const context = reportContext(store, NOW)
  assert.deepEqual((await tag(context, site, 'tag_1', window)).failure, 1)
  assert.deepEqual((await tag(context, site, 'GA4', window)).executions, 1)
})

testLogic('the matrix has a cell for each tag that ran on an event, in whole hours', async (store) => {
  const site = await insertSite(store)
  await count(store, site, payloads)
  const seen = await matrix(reportContext(store, NOW), site, window)
  assert.deepEqual(seen, {
    site_id: site.id,
    from: Date.parse(at('10:00:00')),
    to: Date.parse(at('12:00:00')),
    events: ['purchase', 'early', 'page_view'],
    tags: ['GA4', 'Meta'],
    cells: [
      { event_name: 'purchase', tag_key: 'GA4', executions: 2, bad: 1 },
      { event_name: 'purchase', tag_key: 'Meta', executions: 1, bad: 1 },
      { event_name: 'early', tag_key: 'GA4', executions: 1, bad: 1 },
      { event_name: 'page_view', tag_key: 'GA4', executions: 1, bad: 0 },
    ],
  })
})

testLogic('the matrix is the same from hour rows and from day rows', async (store) => {
  const site = await insertSite(store)
  await count(store, site, payloads)
  const now = Date.parse(NOW) + 2 * DAY
  const days = { from: Date.parse(at('00:00:00')) - DAY, to: Date.parse(at('00:00:00')) + DAY }
  const before = await matrix(reportContext(store, now), site, days)
  await rollUpAll(store, now + HOUR)
  assert.deepEqual(await matrix(reportContext(store, now), site, days), before)
  assert.equal(before.cells.length, 4)
})
