import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL_EVENTS, choicesOf, sharesOf } from '../../web/src/features/site/own-fields.ts'

const field = (event_name: string | null, name: string, present: number, total: number) => ({
  event_name,
  field: name,
  present,
  total,
  rate: total === 0 ? null : present / total,
})

const FIELDS = [
  field('purchase', 'coupon', 3, 10),
  field('purchase', 'group', 9, 10),
  field('page_view', 'group', 10, 90),
  field(null, 'coupon', 5, 50),
]

test('one event alone is all there is to look at, several can be looked at together', () => {
  assert.deepEqual(choicesOf(FIELDS.slice(0, 2)), ['purchase'])
  assert.deepEqual(choicesOf(FIELDS.slice(0, 3)), [ALL_EVENTS, 'purchase', 'page_view'])
  assert.deepEqual(choicesOf(FIELDS.slice(3)), [ALL_EVENTS])
})

test('shares are those of the event, or of all events with the batches, the most frequent first', () => {
  assert.deepEqual(sharesOf(FIELDS, 'purchase', 8), [
    { field: 'coupon', total: 10, rate: 0.3 },
    { field: 'group', total: 10, rate: 0.9 },
  ])
  assert.deepEqual(sharesOf(FIELDS, ALL_EVENTS, 8), [
    { field: 'group', total: 100, rate: 0.19 },
    { field: 'coupon', total: 60, rate: 8 / 60 },
  ])
  assert.deepEqual(sharesOf(FIELDS, ALL_EVENTS, 1), [{ field: 'group', total: 100, rate: 0.19 }])
})

test('an event that is called as the choice of all is an event', () => {
  const named = [field('All events', 'group', 1, 10), field('purchase', 'group', 9, 10)]
  assert.equal(new Set(choicesOf(named)).size, 3)
  assert.deepEqual(sharesOf(named, 'All events', 8), [{ field: 'group', total: 10, rate: 0.1 }])
})
