import assert from 'node:assert/strict'
import type { EventPayload } from '../../../src/journal/payload.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { vendorStatus } from '../../../src/probes/types/vendor-status.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

type Response = NonNullable<EventPayload['tags'][number]['response']>

/** A tag that succeeds, whatever its vendor says. */
const sent = (time: number, response: Response) =>
  event(time, { tags: [{ id: '2', name: 'Meta CAPI', status: 'success', response }] })

testOnEveryEngine(
  'vendor_status: a vendor that refuses what its tag sends is critical, since when',
  async (store, t) => {
    const since = NOW - 10 * MINUTE
    const payloads = every(MINUTE / 4, NOW - 3 * HOUR, NOW).map((time) => sent(time, time < since ? '2xx' : '4xx'))
    const { status, message, details } = await resultOf(t, store, await siteWith(store, payloads), vendorStatus)
    assert.equal(status, 'critical')
    assert.match(message, /^The vendor of “Meta CAPI” refused \d+ % of \d+ executions in \d+ min \(\d+ HTTP 4xx\)$/)
    assert.deepEqual(
      details.findings.map(({ subject, since: began }) => [subject, began]),
      [[{ tag_key: 'Meta CAPI' }, isoTime(since)]],
    )
  },
)

testOnEveryEngine('vendor_status: batches are judged by their counts', async (store, t) => {
  const metric = { success: 50, response_2xx: 40, response_5xx: 8, response_none: 2 }
  const payloads = every(MINUTE, NOW - HOUR, NOW).map((time) => batch(time, { tag_metrics: { 'Meta CAPI': metric } }))
  const { status, message } = await resultOf(t, store, await siteWith(store, payloads), vendorStatus)
  assert.equal(status, 'warning')
  assert.match(message, /refused 20 % of \d+ executions/)
})

testOnEveryEngine('vendor_status: a site none of whose tags reports answers has nothing to judge', async (store, t) => {
  const site = await siteWith(
    store,
    every(5 * MINUTE, NOW - HOUR, NOW).map((time) => event(time)),
  )
  const { status, reason, message } = await resultOf(t, store, site, vendorStatus)
  assert.deepEqual([status, reason], ['ok', 'no_data'])
  assert.match(message, /needs the snippet/)
})
