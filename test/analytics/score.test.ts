import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bandOf, type ScoreCounts, score, type TagCount, worstTag } from '../../src/analytics/score.ts'

const of = (present: number, total: number) => ({ present, total })
const NO_USER_DATA = { email: of(0, 0), phone: of(0, 0), address: of(0, 0) }
const NO_ECOMMERCE = { value: of(0, 0), currency: of(0, 0), transaction_id: of(0, 0), items: of(0, 0) }

const counts = (over: Partial<ScoreCounts> = {}): ScoreCounts => ({
  events: 100,
  success: 0,
  executions: 0,
  worst_tag: null,
  user_data: NO_USER_DATA,
  ecommerce: NO_ECOMMERCE,
  ...over,
})

interface Expected {
  overall: number | null
  delivery: number | null
  user_data: number | null
  ecommerce: number | null
}
const TABLE: readonly ({ name: string; counts: ScoreCounts } & Expected)[] = [
  {
    name: 'everything at its target is 100',
    counts: counts({
      success: 50,
      executions: 50,
      user_data: { email: of(70, 100), phone: of(30, 100), address: of(50, 100) },
      ecommerce: { value: of(95, 100), currency: of(10, 10), transaction_id: of(10, 10), items: of(10, 10) },
    }),
    overall: 100,
    delivery: 100,
    user_data: 100,
    ecommerce: 100,
  },
  {
    name: 'more than the target does not make up for less',
    counts: counts({ user_data: { email: of(100, 100), phone: of(0, 100), address: of(100, 100) } }),
    overall: 80,
    delivery: null,
    user_data: 80,
    ecommerce: null,
  },
  {
    name: 'each user-data field counts by its share of the target and its weight',
    counts: counts({ user_data: { email: of(35, 100), phone: of(15, 100), address: of(10, 100) } }),
    overall: 41,
    delivery: null,
    user_data: 50 * 0.5 + 50 * 0.2 + 20 * 0.3,
    ecommerce: null,
  },
  {
    name: 'each e-commerce field counts by its share of the target and its weight',
    counts: counts({
      ecommerce: { value: of(475, 1_000), currency: of(500, 1_000), transaction_id: of(1, 4), items: of(0, 1_000) },
    }),
    overall: 32.5,
    delivery: null,
    user_data: null,
    ecommerce: 50 * 0.3 + 50 * 0.2 + 25 * 0.3,
  },
  {
    name: 'without purchases the other e-commerce fields weigh more',
    counts: counts({
      ecommerce: { value: of(95, 100), currency: of(0, 100), transaction_id: of(0, 0), items: of(100, 100) },
    }),
    overall: 71.428571429,
    delivery: null,
    user_data: null,
    ecommerce: 71.428571429,
  },
  {
    name: 'delivery is half of the whole',
    counts: counts({
      success: 80,
      executions: 100,
      user_data: { email: of(0, 10), phone: of(0, 10), address: of(0, 10) },
      ecommerce: { value: of(10, 10), currency: of(10, 10), transaction_id: of(10, 10), items: of(10, 10) },
    }),
    overall: 65,
    delivery: 80,
    user_data: 0,
    ecommerce: 100,
  },
  {
    name: 'weights are spread over the parts with data',
    counts: counts({
      success: 90,
      executions: 100,
      user_data: { email: of(0, 10), phone: of(0, 10), address: of(0, 10) },
    }),
    overall: 60,
    delivery: 90,
    user_data: 0,
    ecommerce: null,
  },
  { name: 'nothing known', counts: counts(), overall: null, delivery: null, user_data: null, ecommerce: null },
  {
    name: 'too few events give no overall score, but the parts',
    counts: counts({ events: 19, success: 1, executions: 1 }),
    overall: null,
    delivery: 100,
    user_data: null,
    ecommerce: null,
  },
  {
    name: 'twenty events are enough',
    counts: counts({ events: 20, success: 1, executions: 1 }),
    overall: 100,
    delivery: 100,
    user_data: null,
    ecommerce: null,
  },
]

for (const { name, counts: given, ...expected } of TABLE) {
  test(`score: ${name}`, () => {
    const { overall, delivery, user_data, ecommerce, band, insufficient_data } = score(given)
    assert.deepEqual({ overall, delivery, user_data, ecommerce }, expected)
    assert.equal(insufficient_data, expected.overall === null)
    assert.equal(band === null, expected.overall === null)
  })
}

test('the score returns everything it was computed from', () => {
  const { inputs } = score(counts({ success: 3, executions: 4, ecommerce: { ...NO_ECOMMERCE, value: of(1, 2) } }))
  assert.equal(inputs.events, 100)
  assert.deepEqual(inputs.delivery, {
    success: 3,
    executions: 4,
    rate: 0.75,
    worst_tag: null,
    weight: 0.5,
  })
  assert.deepEqual(inputs.ecommerce.value, { present: 1, total: 2, rate: 0.5, target: 0.95, weight: 0.3 })
  assert.deepEqual(inputs.user_data.email, { present: 0, total: 0, rate: null, target: 0.7, weight: 0.5 })
})

test('bands start at 90, 70 and 50', () => {
  const bands = [100, 90, 89.999, 70, 69.999, 50, 49.999, 0].map(bandOf)
  assert.deepEqual(bands, ['excellent', 'excellent', 'good', 'good', 'warning', 'warning', 'critical', 'critical'])
})

const tag = (tag_key: string, success: number, executions: number): TagCount => ({ tag_key, success, executions })

test('the worst tag that matters weighs as delivery, whatever the others did', () => {
  const tags = [tag('GA4', 1_000, 1_000), tag('Ads', 1_000, 1_000), tag('Meta CAPI', 45, 100)]
  const { overall, delivery, band, inputs } = score(
    counts({ success: 2_045, executions: 2_100, worst_tag: worstTag(tags) }),
  )
  assert.deepEqual([overall, delivery, band], [45, 45, 'critical'])
  assert.deepEqual(inputs.delivery.worst_tag, { tag_key: 'Meta CAPI', success: 45, executions: 100, rate: 0.45 })
  assert.equal(inputs.delivery.rate, 2_045 / 2_100)
})

test('the rate over all tags stands where it is lower than that of any tag that matters', () => {
  const tags = [tag('GA4', 30, 30), ...Array.from({ length: 10 }, (_, index) => tag(`rare ${index}`, 0, 19))]
  const { delivery } = score(counts({ success: 30, executions: 220, worst_tag: worstTag(tags) }))
  assert.equal(delivery, 13.636363636)
})

test('a tag matters from 20 executions and 1 % of those of the busiest on', () => {
  assert.equal(worstTag([]), null)
  assert.equal(worstTag([tag('a', 0, 19)]), null)
  assert.equal(worstTag([tag('a', 0, 20)])?.tag_key, 'a')
  assert.equal(worstTag([tag('a', 10_000, 10_000), tag('b', 0, 99)])?.tag_key, 'a')
  assert.equal(worstTag([tag('a', 10_000, 10_000), tag('b', 0, 100)])?.tag_key, 'b')
})

test('of tags that succeed as often the busiest is named, then the first by key', () => {
  assert.equal(worstTag([tag('a', 20, 20), tag('c', 30, 30), tag('b', 30, 30)])?.tag_key, 'b')
})

test('an open critical alert caps the score, says so, and lifts none', () => {
  const alert = { id: 'alert-1', title: 'Meta CAPI fails' }
  const cap = { max: 49, reason: 'Meta CAPI fails', alert_id: 'alert-1' }
  const high = score(counts({ success: 98, executions: 100 }), alert)
  assert.deepEqual([high.overall, high.band, high.cap, high.inputs.uncapped], [49, 'critical', cap, 98])
  assert.equal(high.delivery, 98)
  const low = score(counts({ success: 10, executions: 100 }), alert)
  assert.deepEqual([low.overall, low.cap, low.inputs.uncapped], [10, cap, 10])
  const unknown = score(counts({ events: 19, success: 1, executions: 1 }), alert)
  assert.deepEqual([unknown.overall, unknown.band, unknown.insufficient_data, unknown.cap], [null, null, true, cap])
  assert.equal(score(counts({ success: 98, executions: 100 })).cap, null)
})
