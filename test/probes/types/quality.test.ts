import assert from 'node:assert/strict'
import type { BatchPayload, Payload } from '../../../src/journal/payload.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { ecommerceQuality, userDataQuality } from '../../../src/probes/types/data-quality.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, SLOT, siteWith } from './data-support.ts'

type UserData = NonNullable<BatchPayload['user_data_quality']>
type Ecommerce = NonNullable<BatchPayload['ecommerce_quality']>

const userData = (time: number, over: Partial<UserData> = {}): Payload =>
  batch(time, {
    total_events: 100,
    user_data_quality: { email: 80, phone: 40, address: 60, total: 100, ...over },
  })
const ecommerce = (time: number, over: Partial<Ecommerce> = {}): Payload =>
  batch(time, {
    total_events: 100,
    ecommerce_quality: { value: 100, currency: 100, transaction_id: 100, items: 100, total: 100, ...over },
  })

/** What people have set. */
const BOUNDS = { warning_score: 70, critical_score: 50 }

/** Two hours of slots after a week of a batch every six hours; `of` gets the times since `since`. */
function history<T>(of: (time: number, over?: Partial<T>) => Payload, since: number, over: Partial<T>): Payload[] {
  const times = [...every(6 * HOUR, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(SLOT, NOW - 2 * HOUR, NOW)]
  return times.map((time) => of(time, time < since ? {} : over))
}

const USER_DATA = [
  { what: 'that is as good as it should be', over: {}, status: 'ok', message: /^score of user data 100 of 100 over/ },
  {
    what: 'with a score of 60',
    over: { email: 42, phone: 18, address: 30 },
    status: 'warning',
    message: /^score of user data 60 of 100 over 1,200 events in 60 min$/,
  },
  {
    what: 'with a score of 40',
    over: { email: 28, phone: 12, address: 20 },
    status: 'critical',
    message: /^score of user data 40 of 100 over 1,200 events in 60 min/,
  },
] as const
for (const { what, over, status, message } of USER_DATA) {
  testLogic(`user_data_quality: user data ${what} is ${status}`, async (store, t) => {
    const site = await siteWith(store, history(userData, NOW - 9 * DAY, over))
    const result = await resultOf(t, store, site, userDataQuality, BOUNDS)
    assert.deepEqual([result.status, result.reason], [status, null])
    assert.match(result.message, message)
  })
}

testLogic('user_data_quality: a country that got lost is critical, with the time since when', async (store, t) => {
  const since = NOW - 30 * MINUTE
  const times = [...every(HOUR, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(MINUTE / 2, NOW - 2 * HOUR, NOW)]
  const payloads = times.map((time) =>
    event(time, {
      user_data: { has_email: true, has_phone: true, has_first_name: true, has_country: time < since },
    }),
  )
  const { status, message, details } = await resultOf(t, store, await siteWith(store, payloads), userDataQuality)
  assert.equal(status, 'critical')
  assert.match(message, /^“country” is present in 0 % of \d+ “[a-z_]+” events in \d+ min; usually 100 %$/)
  assert.deepEqual(
    details.findings.filter(({ subject }) => subject.field !== undefined).map(({ subject, since }) => [subject, since]),
    [[{ event_name: 'page_view', field: 'country' }, isoTime(since)]],
  )
})

const ECOMMERCE = [
  { what: 'that is complete', over: {}, status: 'ok' },
  { what: 'with a score of 60', over: { value: 57, currency: 60, transaction_id: 60, items: 60 }, status: 'warning' },
  { what: 'with a score of 40', over: { value: 38, currency: 40, transaction_id: 40, items: 40 }, status: 'critical' },
] as const
for (const { what, over, status } of ECOMMERCE) {
  testLogic(`ecommerce_quality: data ${what} is ${status}`, async (store, t) => {
    const site = await siteWith(store, history(ecommerce, NOW - 9 * DAY, over))
    const result = await resultOf(t, store, site, ecommerceQuality, BOUNDS)
    assert.deepEqual([result.status, result.reason], [status, null])
    assert.match(result.message, /^score of e-commerce data \d+ of 100 over 1,200 events in 60 min/)
  })
}

testLogic('ecommerce_quality: a lost currency is critical, although the score is 80', async (store, t) => {
  const since = NOW - 20 * MINUTE
  const site = await siteWith(store, history(ecommerce, since, { currency: 0 }))
  const { status, message, details } = await resultOf(t, store, site, ecommerceQuality)
  assert.equal(status, 'critical')
  assert.match(message, /^“currency” is present in 0 % of 400 events in 20 min; usually 100 %$/)
  assert.equal(details.findings.find(({ subject }) => subject.field === 'currency')?.since, isoTime(since))
})

testOnEveryEngine('ecommerce_quality: only purchases and refunds need a transaction id', async (store, t) => {
  const whole = { has_value: true, has_currency: true, has_items: true }
  const payloads = every(MINUTE, NOW - 3 * HOUR, NOW).map((time, index) =>
    index % 4 === 0
      ? event(time, { event_name: 'purchase', ecommerce: { ...whole, has_transaction_id: true } })
      : event(time, { event_name: 'view_item', ecommerce: { ...whole, has_transaction_id: false } }),
  )
  const { status, message } = await resultOf(t, store, await siteWith(store, payloads), ecommerceQuality, BOUNDS)
  assert.equal(status, 'ok')
  assert.match(message, /^score of e-commerce data 100 of 100/)
})

testLogic('quality: a site with too few such events is learned first', async (store, t) => {
  const site = await siteWith(
    store,
    every(HOUR, NOW - 20 * HOUR, NOW).map((time) => event(time, { user_data: { has_email: false } })),
  )
  const ofUsers = await resultOf(t, store, site, userDataQuality)
  assert.deepEqual([ofUsers.status, ofUsers.reason], ['ok', 'learning'])
  assert.equal(
    ofUsers.message,
    'Learning: 0 of 100 events of one kind are known from before the last day; judging of user data starts at 100',
  )
  const ofShop = await resultOf(t, store, site, ecommerceQuality)
  assert.deepEqual(
    [ofShop.reason, ofShop.message],
    ['no_data', 'No event has reported anything about e-commerce data in the last 8 days'],
  )
})

testLogic('quality: bounds that contradict each other are an error', async (store, t) => {
  const config = { warning_score: 40, critical_score: 60 }
  const { status, message } = await resultOf(t, store, await siteWith(store, []), userDataQuality, config)
  assert.equal(status, 'error')
  assert.match(message, /\/config\/critical_score must not be above warning_score/)
})
