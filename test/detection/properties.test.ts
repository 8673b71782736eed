import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  type OutcomeBucket,
  type Status,
  TAG_FAILURE_RATE_DEFAULTS,
  tagFailureRate,
  type Verdict,
} from '../../src/detection/index.ts'
import { HOUR } from '../../src/lib/index.ts'
import { NOON, SLOT, volumeInput } from './support.ts'

const RANK: Readonly<Record<Status, number>> = { ok: 0, warning: 1, critical: 2 }
const isNoBetter = (a: Verdict, b: Verdict) =>
  assert.ok(RANK[a.status] >= RANK[b.status], `${a.message} / ${b.message}`)

/** The last half hour has `share` of what is usual. */
function volume(perSlot: number, share: number): Verdict {
  const input = volumeInput({
    usual: () => ({ page_view: perSlot }),
    recent: (time) => ({ page_view: time < NOON - HOUR / 2 ? perSlot : perSlot * share }),
  })
  return dataVolume(input, DATA_VOLUME_DEFAULTS)
}

test('data_volume: the less there is, the worse', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (perSlot, share) => {
      isNoBetter(volume(perSlot, share / 2), volume(perSlot, share))
    }),
    { numRuns: 40 },
  )
})

test('data_volume: what is bad on a small site is bad on a larger one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.constantFrom(0, 0.1, 0.2, 0.3, 0.4), (perSlot, share) => {
      if (volume(perSlot, share).status !== 'ok') assert.notEqual(volume(10 * perSlot, share).status, 'ok')
    }),
    { numRuns: 40 },
  )
})

const outcomes = fc.array(
  fc.record({ success: fc.nat(60), failure: fc.nat(20), timeout: fc.nat(5), exception: fc.nat(5) }),
  {
    minLength: 3,
    maxLength: 3,
  },
)
const bucketed = (counts: readonly Omit<OutcomeBucket, 'from' | 'to'>[]): OutcomeBucket[] =>
  counts.map((count, index) => ({ ...count, from: NOON - (3 - index) * SLOT, to: NOON - (2 - index) * SLOT }))
const failures = (...tags: readonly (readonly OutcomeBucket[])[]) =>
  tagFailureRate(
    { now: NOON, tags: tags.map((buckets, index) => ({ tag_key: `tag ${index}`, buckets })) },
    TAG_FAILURE_RATE_DEFAULTS,
  )

test('tag_failure_rate: a success that becomes a failure makes nothing better', () => {
  fc.assert(
    fc.property(outcomes, fc.nat(2), (counts, place) => {
      const worse = counts.map((count, index) =>
        index === place && count.success > 0
          ? { ...count, success: count.success - 1, failure: count.failure + 1 }
          : count,
      )
      isNoBetter(failures(bucketed(worse)), failures(bucketed(counts)))
    }),
  )
})

test('tag_failure_rate: which kind of bad end it was, and the order inside the window, change nothing', () => {
  fc.assert(
    fc.property(outcomes, (counts) => {
      const others = counts
        .toReversed()
        .map((count) => ({ ...count, failure: count.exception, exception: count.failure }))
      assert.equal(failures(bucketed(others)).status, failures(bucketed(counts)).status)
    }),
  )
})

test('tag_failure_rate: tags are judged one by one, in whatever order they come', () => {
  fc.assert(
    fc.property(outcomes, outcomes, (one, other) => {
      const [a, b] = [bucketed(one), bucketed(other)]
      const alone = [failures(a).status, failures(b).status].toSorted((x, y) => RANK[y] - RANK[x])[0]
      assert.deepEqual([failures(a, b).status, failures(b, a).status], [alone, alone])
    }),
  )
})
