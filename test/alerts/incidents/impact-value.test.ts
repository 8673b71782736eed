import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Impact, ImpactValue, NamedLoss } from '../../../src/alerts/incidents/impact.ts'
import { lossAndValue, purchaseValue, totalOf, valueInWords } from '../../../src/alerts/incidents/impact-value.ts'
import { counted } from '../../../src/detection/index.ts'

const EUROS = { average_order_value: 79, currency: 'EUR' }

const named = (event_name: string, lost: number, of = 425): NamedLoss => ({ event_name, ...counted(lost, of) })

const impact = (over: Partial<Impact>): Impact => ({
  from: 0,
  to: 1,
  final: false,
  sites: 1,
  events: null,
  key_events: [],
  executions: null,
  key_executions: [],
  share: null,
  estimate: 'Counted.',
  ...over,
})

const WORTH: readonly [what: string, of: Impact, tags: number, site: typeof EUROS | null, lost: number | null][] = [
  ['purchases that did not come', impact({ key_events: [named('purchase', 267)] }), 0, EUROS, 21_093],
  ['purchases of another spelling', impact({ key_events: [named('Purchase', 10)] }), 0, EUROS, 790],
  ['purchases of which one tag knows nothing', impact({ key_executions: [named('purchase', 267)] }), 1, EUROS, 21_093],
  [
    'executions of two tags, which may be of one purchase',
    impact({ key_executions: [named('purchase', 9)] }),
    2,
    EUROS,
    null,
  ],
  ['checkouts, which are no purchases', impact({ key_events: [named('begin_checkout', 60)] }), 0, EUROS, null],
  [
    'purchases that are not what its sentence is about',
    impact({ key_events: [named('lead', 40), named('purchase', 3)] }),
    0,
    EUROS,
    null,
  ],
  [
    'purchases that are perhaps not lost',
    impact({ key_events: [{ ...named('purchase', 4), low: 0 }] }),
    0,
    EUROS,
    null,
  ],
  ['purchases of a site whose orders no one valued', impact({ key_events: [named('purchase', 267)] }), 0, null, null],
]
for (const [what, of, tags, site, lost] of WORTH) {
  test(`what is said to be worth something: ${what}`, () => {
    const found = purchaseValue(of, tags, site ?? { average_order_value: null, currency: null })
    assert.equal(found?.lost ?? null, lost)
  })
}

const value = (over: Partial<ImpactValue>): ImpactValue => ({
  currency: 'EUR',
  lost: 21_093,
  low: 21_093,
  high: 21_093,
  average_order_value: 79,
  ...over,
})

test('an amount is rounded as an estimate is, and has its ends where they lie far apart', () => {
  assert.equal(valueInWords(value({})), '≈ €21k, estimated')
  assert.equal(valueInWords(value({ currency: 'USD', lost: 940, low: 900, high: 980 })), '≈ US$940, estimated')
  assert.equal(valueInWords(value({ low: 14_000, high: 29_000 })), '€14k to €29k, estimated')
})

test('messages say the loss and then its worth, and the loss alone where that is not known', () => {
  const lost = impact({ key_events: [named('purchase', 267)] })
  assert.equal(lossAndValue(lost), '267 of 425 purchases (63 %)')
  assert.equal(lossAndValue({ ...lost, value: value({}) }), '267 of 425 purchases (63 %), ≈ €21k, estimated')
  assert.equal(lossAndValue(impact({ value: value({}) })), null)
})

test('of several sites the worth is said only when it is that of all, in one currency', () => {
  const lost = impact({ key_executions: [named('purchase', 10)] })
  const euros = { ...lost, value: value({ lost: 790, low: 790, high: 790 }) }
  assert.deepEqual(
    totalOf([euros, euros])?.value,
    value({ lost: 1_580, low: 1_580, high: 1_580, average_order_value: null }),
  )
  assert.equal(totalOf([euros, lost])?.value, null)
  assert.equal(totalOf([euros, { ...lost, value: value({ currency: 'USD' }) }])?.value, null)
  assert.equal(totalOf([]), null)
})
