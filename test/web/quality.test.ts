import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presence, score } from '../../src/analytics/score.ts'
import { basesInWords, shownFields } from '../../web/src/features/site/quality.ts'

/** A report of a site that sends batches, and a few events one by one. */
function report() {
  const none = { present: 0, total: 0 }
  const quality = score({
    events: 200,
    success: 0,
    executions: 0,
    worst_tag: null,
    user_data: { email: { present: 90, total: 120 }, phone: none, address: none },
    ecommerce: { value: none, currency: none, transaction_id: none, items: none },
  })
  const [never, unknown] = [presence(0, 200), presence(0, 0)]
  return {
    score: { ...quality, recent: null },
    user_data: {
      total: 200,
      email: presence(90, 200),
      phone: never,
      address: never,
      first_name: presence(1, 1),
      last_name: presence(0, 1),
      city: unknown,
      country: unknown,
    },
    ecommerce: { total: 200, value: never, currency: never, transaction_id: never, items: never },
  }
}

test('a field that no event has is shown with 0 %, except a transaction id where nothing was bought', () => {
  const rates = (part: 'user_data' | 'ecommerce') =>
    shownFields(report(), part).map(({ field, rate }) => [field, rate] as const)
  assert.deepEqual(Object.fromEntries(rates('user_data')), {
    email: 0.75,
    phone: 0,
    address: 0,
    first_name: 1,
    last_name: 0,
  })
  assert.deepEqual(Object.fromEntries(rates('ecommerce')), { value: 0, currency: 0, transaction_id: null, items: 0 })
})

test('a field that only some of the events can have says how many these are', () => {
  const bases = shownFields(report(), 'user_data').map(({ field, base }) => [field, base] as const)
  assert.deepEqual(bases, [
    ['email', undefined],
    ['phone', undefined],
    ['address', undefined],
    ['first_name', 1],
    ['last_name', 1],
  ])
})

test('the shares say how many events can carry their fields, not how many reported any', () => {
  const { score: quality, ...rest } = report()
  assert.equal(basesInWords({ score: quality, ...rest }, 'user_data'), 'present in 120 events that can carry it')
  assert.equal(basesInWords({ score: quality, ...rest }, 'ecommerce'), 'present in 200 events that can carry it')
  quality.inputs.user_data.phone.total = 40
  assert.equal(basesInWords({ score: quality, ...rest }, 'user_data'), 'present in up to 120 events that can carry it')
})
