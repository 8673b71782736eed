import assert from 'node:assert/strict'
import type { Payload } from '../../../src/journal/payload.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { tagLatency } from '../../../src/probes/types/tag-latency.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

const run = (time: number, ms: number, status: 'success' | 'timeout' = 'success'): Payload =>
  event(time, { tags: [{ id: '7', name: 'Meta CAPI', status, execution_time: ms }] })

/** The tag took about 80 ms at this hour of the last five days. */
const USUAL = [1, 2, 3, 4, 5].flatMap((days) =>
  every(4 * MINUTE, NOW - days * DAY - HOUR, NOW - days * DAY + 2 * HOUR).map((time) => run(time, 80)),
)
/** Four runs a minute in the last hour. */
const lately = (of: (time: number) => Payload) => every(MINUTE / 4, NOW - HOUR, NOW).map(of)

const CASES = [
  { what: 'takes as long as ever', ms: 90, status: 'ok' },
  { what: 'takes 400 ms longer', ms: 480, status: 'warning' },
  { what: 'takes two seconds', ms: 2_000, status: 'critical' },
] as const
for (const { what, ms, status } of CASES) {
  testOnEveryEngine(`tag_latency: a tag that ${what} is ${status}`, async (store, t) => {
    const since = NOW - 20 * MINUTE
    const site = await siteWith(store, [...USUAL, ...lately((time) => run(time, time < since ? 80 : ms))])
    const result = await resultOf(t, store, site, tagLatency)
    assert.deepEqual([result.status, result.reason], [status, null])
    if (status === 'ok') return assert.equal(result.message, '1 tag is as quick as usual')
    assert.match(
      result.message,
      /^“Meta CAPI” takes [\d,]+ ms on average, 95th percentile [\d,]+–[\d,]+ ms \(60 executions in 15 min\); usually 80 ms /,
    )
    assert.equal(result.details.findings[0]?.since, isoTime(since))
  })
}

testLogic('tag_latency: a slow tag that mostly runs into its timeout is critical', async (store, t) => {
  const site = await siteWith(store, [...USUAL, ...lately((time) => run(time, 480, 'timeout'))])
  assert.equal((await resultOf(t, store, site, tagLatency)).status, 'critical')
})

testLogic('tag_latency: the mean counts the times of batches for no more than their share', async (store, t) => {
  const slowBatch = (time: number) =>
    batch(time, { tag_metrics: { 'Meta CAPI': { success: 100, total_exec_ms: 48_000, count: 100 } } })
  const site = await siteWith(store, [
    ...USUAL,
    ...lately((time) => run(time, 480)),
    ...every(MINUTE, NOW - HOUR, NOW).map(slowBatch),
  ])
  const { status, details } = await resultOf(t, store, site, tagLatency)
  assert.equal(status, 'warning')
  assert.equal(details.findings[0]?.evidence.mean_ms, 480)
})

testLogic('tag_latency: a tag without a past, or without times, is learned first', async (store, t) => {
  const young = await siteWith(
    store,
    lately((time) => run(time, 2_000)),
  )
  const batches = every(10 * MINUTE, NOW - 6 * DAY, NOW).map((time) =>
    batch(time, { tag_metrics: { GA4: { success: 100, total_exec_ms: 8_000, count: 100 } } }),
  )
  const ofYoung = await resultOf(t, store, young, tagLatency)
  assert.deepEqual([ofYoung.status, ofYoung.reason], ['ok', 'learning'])
  assert.equal(
    ofYoung.message,
    'Learning: “Meta CAPI” is known in 0 of 4 hours around this time of day (10 executions with a time in each), judging starts 22 Nov if this continues',
  )
  const ofBatches = await resultOf(t, store, await siteWith(store, batches), tagLatency)
  assert.deepEqual([ofBatches.status, ofBatches.reason], ['ok', 'no_data'])
})

testLogic('tag_latency: bounds that contradict each other are an error', async (store, t) => {
  const { status } = await resultOf(t, store, await siteWith(store, []), tagLatency, { critical_factor: 1.5 })
  assert.equal(status, 'error')
})
