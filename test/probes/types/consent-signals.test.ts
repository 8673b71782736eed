import assert from 'node:assert/strict'
import type { EventPayload, Payload } from '../../../src/journal/payload.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { consentSignals } from '../../../src/probes/types/consent-signals.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

type Consent = NonNullable<EventPayload['consent']>

const GRANTED: Consent = { ad_storage: 'granted', analytics_storage: 'granted', updated: true }
const DENIED: Consent = { ad_storage: 'denied', analytics_storage: 'denied', updated: true }

/** Two of three visitors grant; GA4 runs for all, Meta CAPI for those who grant. */
const visit = (time: number, index: number, over: Partial<EventPayload> = {}): Payload => {
  const isGranted = index % 3 !== 0
  const tags = [{ id: '1', name: 'GA4', status: 'success' as const }]
  const meta = { id: '2', name: 'Meta CAPI', status: 'success' as const }
  return event(time, { consent: isGranted ? GRANTED : DENIED, tags: isGranted ? [...tags, meta] : tags, ...over })
}

const TIMES = [...every(20 * MINUTE, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(MINUTE / 2, NOW - 2 * HOUR, NOW)]

testLogic('consent_signals: signals as usual are fine', async (store, t) => {
  const result = await resultOf(
    t,
    store,
    await siteWith(
      store,
      TIMES.map((time, index) => visit(time, index)),
    ),
    consentSignals,
  )
  assert.deepEqual([result.status, result.reason], ['ok', null])
  assert.equal(result.details.judged, 6)
})

testLogic('consent_signals: a default that is never updated is critical, since when it broke', async (store, t) => {
  const since = NOW - 30 * MINUTE
  const broken: Consent = { ad_storage: 'denied', analytics_storage: 'denied', updated: false }
  const payloads = TIMES.map((time, index) => visit(time, index, time < since ? {} : { consent: broken, tags: [] }))
  const { status, message, details } = await resultOf(t, store, await siteWith(store, payloads), consentSignals)
  assert.equal(status, 'critical')
  assert.match(
    message,
    /^A visitor's choice follows the consent default on 0 % of \d+ events in \d+ min; usually 100 %$/,
  )
  assert.deepEqual(
    details.findings.map(({ subject, since }) => [subject, since]),
    [[{ field: 'update' }, isoTime(since)]],
  )
})

testLogic('consent_signals: a tag that begins to run without consent warns', async (store, t) => {
  const since = NOW - 60 * MINUTE
  const all = { tags: ['GA4', 'Meta CAPI'].map((name, id) => ({ id: `${id + 1}`, name, status: 'success' as const })) }
  const payloads = TIMES.map((time, index) => visit(time, index, time < since ? {} : all))
  const { status, details } = await resultOf(t, store, await siteWith(store, payloads), consentSignals)
  assert.equal(status, 'warning')
  assert.deepEqual(
    details.findings.map(({ subject }) => subject),
    [{ tag_key: 'Meta CAPI' }],
  )
})

testLogic('consent_signals: batches are judged by their counts', async (store, t) => {
  const since = NOW - 30 * MINUTE
  const of = (time: number) =>
    batch(time, {
      total_events: 100,
      consent: { total: 100, ad_storage_granted: time < since ? 60 : 0, ad_storage_denied: time < since ? 30 : 0 },
    })
  const times = [...every(HOUR, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(5 * MINUTE, NOW - 2 * HOUR, NOW)]
  const { status, details } = await resultOf(t, store, await siteWith(store, times.map(of)), consentSignals)
  assert.equal(status, 'critical')
  assert.deepEqual(
    details.findings.map(({ subject }) => subject),
    [{ field: 'signal' }],
  )
})

/** Of a hundred events so many refuse: 20 in the last week, and by turns from day to day before. */
const REFUSALS = [20, 26, 14, 22, 29, 18, 10, 24, 21, 13]
const refused = (time: number, events: number, percent: number): Payload =>
  batch(time, {
    total_events: events,
    consent: {
      total: events,
      ad_storage_granted: (events * (100 - percent)) / 100,
      ad_storage_denied: (events * percent) / 100,
    },
  })

for (const [what, days, expected, declare] of [
  ['warn on a site that is known for a week in which each day was alike', 0, 'warning', testLogic],
  ['are fine where the days of the three weeks before that differed so much', 21, 'ok', testOnEveryEngine],
] as const) {
  declare(`consent_signals: few refusals for a day ${what}`, async (store, t) => {
    const payloads = [
      ...every(DAY, NOW - (9 + days) * DAY, NOW - 9 * DAY).map((time, day) =>
        refused(time, 10_000, REFUSALS[day % REFUSALS.length] ?? 0),
      ),
      ...every(HOUR, NOW - 9 * DAY, NOW - DAY).map((time) => refused(time, 400, 20)),
      ...every(HOUR, NOW - DAY, NOW).map((time) => refused(time, 400, 7)),
    ]
    const { status, message } = await resultOf(t, store, await siteWith(store, payloads), consentSignals)
    assert.equal(status, expected, message)
  })
}

testLogic('consent_signals: a site whose tag reports no consent has nothing to judge', async (store, t) => {
  const site = await siteWith(
    store,
    every(HOUR, NOW - 9 * DAY, NOW).map((time) => event(time)),
  )
  const { status, reason, message } = await resultOf(t, store, site, consentSignals)
  assert.deepEqual([status, reason], ['ok', 'no_data'])
  assert.match(message, /update the tag's template/)
})
