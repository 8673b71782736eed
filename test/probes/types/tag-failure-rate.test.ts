import assert from 'node:assert/strict'
import type { Payload } from '../../../src/journal/payload.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { nextRunAt } from '../../../src/probes/index.ts'
import { tagFailureRate } from '../../../src/probes/types/tag-failure-rate.ts'
import { NOW, newClock } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { count } from '../../analytics/support.ts'
import { openNode, probeRow, resultsOf, runDue } from '../support.ts'
import { every, resultOf, SLOT, siteWith } from './data-support.ts'

/** Five minutes in which the tag ran 100 times and GA4 without trouble. */
const five = (time: number, bad: { failure?: number; timeout?: number; exception?: number } = {}): Payload => {
  const { failure = 0, timeout = 0, exception = 0 } = bad
  const counts = { failure, timeout, exception, success: 100 - failure - timeout - exception, count: 100 }
  return batch(time, { total_events: 100, tag_metrics: { 'Meta CAPI': counts, GA4: { success: 100, count: 100 } } })
}
const day = (of: (time: number) => Payload) => every(SLOT, NOW - 6 * HOUR, NOW).map(of)

testLogic('tag_failure_rate: tags that now and then fail are fine', async (store, t) => {
  const site = await siteWith(
    store,
    day((time) => five(time, { failure: 2 })),
  )
  const { status, message, details } = await resultOf(t, store, site, tagFailureRate)
  assert.deepEqual([status, message, details.judged], ['ok', '2 tags run well', 2])
})

const BAD = [
  { what: 'a tenth of all', bad: { failure: 4, timeout: 6 }, status: 'warning' },
  { what: 'half', bad: { exception: 50 }, status: 'critical' },
] as const
for (const { what, bad, status } of BAD) {
  testOnEveryEngine(`tag_failure_rate: ${what} in the window is ${status}`, async (store, t) => {
    const since = NOW - 40 * MINUTE
    const site = await siteWith(
      store,
      day((time) => five(time, time < since ? {} : bad)),
    )
    const result = await resultOf(t, store, site, tagFailureRate)
    assert.equal(result.status, status)
    assert.match(result.message, /^“Meta CAPI” failed: \d+ of 300 executions \(\d+ %\), last 15 min/)
    const [finding, ...others] = result.details.findings
    assert.deepEqual(others, [])
    assert.deepEqual([finding?.subject, finding?.since], [{ tag_key: 'Meta CAPI' }, isoTime(since)])
  })
}

testOnEveryEngine(
  'tag_failure_rate: a wider window sees what a narrow one does not, and less of what is over',
  async (store, t) => {
    const site = await siteWith(
      store,
      day((time) => five(time, time >= NOW - 2 * HOUR && time < NOW - HOUR ? { failure: 60 } : {})),
    )
    const statusOf = async (config: object) => (await resultOf(t, store, site, tagFailureRate, config)).status
    assert.equal(await statusOf({ window_minutes: 15 }), 'ok')
    assert.equal(await statusOf({ window_minutes: 180 }), 'warning')
    assert.equal(await statusOf({ window_minutes: 1_440 }), 'warning')
    assert.equal(await statusOf({ window_minutes: 180, warning_share: 0.3, critical_share: 0.5 }), 'ok')
  },
)

testLogic('tag_failure_rate: a rare tag is judged over the last hours, under its newest name', async (store, t) => {
  const runs = every(30 * MINUTE, NOW - 20 * HOUR, NOW).map((time) =>
    event(time, { tags: [{ id: '7', status: 'failure', ...(time < NOW - 5 * HOUR ? {} : { name: 'Ads' }) }] }),
  )
  const { status, message } = await resultOf(t, store, await siteWith(store, runs), tagFailureRate)
  assert.equal(status, 'critical')
  assert.match(message, /^“Ads” failed: (\d+) of \1 executions \(100 %\), last /)
})

testLogic('tag_failure_rate: tags that hardly ran are learned first', async (store, t) => {
  const runs = every(2 * HOUR, NOW - 20 * HOUR, NOW).map((time) =>
    event(time, { tags: [{ id: '7', status: 'failure' }] }),
  )
  const { status, message, reason } = await resultOf(t, store, await siteWith(store, runs), tagFailureRate)
  assert.deepEqual([status, reason], ['ok', 'learning'])
  assert.equal(message, 'Learning: “tag_7” ran 10 of 20 times in the last 24 hours, judging starts at 20')
})

testLogic('tag_failure_rate: bounds that contradict each other are an error', async (store, t) => {
  const config = { warning_share: 0.5, critical_share: 0.1 }
  const { status, message } = await resultOf(t, store, await siteWith(store, []), tagFailureRate, config)
  assert.equal(status, 'error')
  assert.match(message, /\/config\/critical_share must not be below warning_share/)
})

testLogic('tag_failure_rate: half of twenty runs in the first minute of a site is critical', async (store, t) => {
  const site = await insertSite(store, { created_at: NOW - MINUTE })
  const clock = newClock()
  clock.advance(50_000)
  const runs = Array.from({ length: 20 }, (_, n) =>
    event(NOW + n * 1_000, { tags: [{ id: '7', name: 'Meta CAPI', status: n % 2 === 0 ? 'failure' : 'success' }] }),
  )
  await count(store, site, runs)
  const probe = await insertProbe(store, site.id, { probe_type: 'tag_failure_rate', interval_seconds: 300 })
  await runDue(await openNode(t, store, clock, [tagFailureRate]))
  const [result] = await resultsOf(store, probe.id)
  assert.deepEqual([result?.status, result?.reason], ['critical', null], result?.message)
})

testLogic('a probe that can judge nothing yet looks again within a minute on its first day', async (store, t) => {
  const [young, old] = [await insertSite(store, { created_at: NOW - HOUR }), await insertSite(store)]
  const probes = await Promise.all(
    [young, old].map((site) =>
      insertProbe(store, site.id, { probe_type: 'tag_failure_rate', interval_seconds: 3_600 }),
    ),
  )
  await runDue(await openNode(t, store, newClock(), [tagFailureRate]))
  const [soon, later] = await Promise.all(probes.map(({ id }) => probeRow(store, id)))
  assert.ok((soon?.next_run_at ?? 0) <= NOW + MINUTE)
  assert.equal(later?.next_run_at, nextRunAt(later?.id ?? '', 3_600, NOW))
})
