import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ecommerceQuality,
  type FieldCounts,
  learnPresence,
  type PresenceBucket,
  QUALITY_DEFAULTS,
  type QualityConfig,
  userDataQuality,
} from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

type Field = 'value' | 'currency'
const counts = (total: number, value: number, currency: number): FieldCounts<Field> => ({
  value: { present: value, total },
  currency: { present: currency, total },
})

/** Half for each field. */
const score = ({ value, currency }: FieldCounts<Field>) =>
  value.total === 0 ? null : (50 * value.present) / value.total + (50 * currency.present) / currency.total

const WHOLE = counts(1_000, 1_000, 1_000)

const WEEK_BEFORE = NOON - 8 * DAY
/** The bounds that a user has set. */
const BOUNDS = { ...QUALITY_DEFAULTS, warning_score: 70, critical_score: 50 }

const past = (usual: readonly PresenceBucket<Field>[]) =>
  learnPresence(['value', 'currency'], { usual }, QUALITY_DEFAULTS)

/** Judges five-minute buckets up to noon, oldest first, by a week of hours. @param event_name null for batches */
const judge = (
  slots: readonly FieldCounts<Field>[],
  usual: readonly FieldCounts<Field>[] = [WHOLE],
  config: QualityConfig = BOUNDS,
  event_name: string | null = 'purchase',
) =>
  ecommerceQuality(
    {
      now: NOON,
      fields: ['value', 'currency'],
      kinds: [
        {
          event_name,
          recent: bucketsUntil(NOON, SLOT, slots.length).map((bucket, index) => ({
            ...bucket,
            fields: slots[index] ?? WHOLE,
          })),
          past: past(
            usual.map((fields, hour) => ({
              from: WEEK_BEFORE + hour * HOUR,
              to: WEEK_BEFORE + (hour + 1) * HOUR,
              fields,
            })),
          ),
        },
      ],
      score,
    },
    config,
  )

const POOR = counts(1_000, 100, 100)
const SCORES: readonly [what: string, recent: FieldCounts<Field>, status: string][] = [
  ['a full score', counts(100, 100, 100), 'ok'],
  ['a score of 71', counts(1_000, 710, 710), 'ok'],
  ['a score of 69 that may be 70 by chance', counts(100, 69, 69), 'ok'],
  ['a score of 69 that is sure', counts(100_000, 69_000, 69_000), 'warning'],
  ['a score of 60', counts(1_000, 600, 600), 'warning'],
  ['a score of 40', counts(1_000, 400, 400), 'critical'],
  ['a score of 20 from 50 events', counts(50, 10, 10), 'critical'],
  ['a score of 20 from 49 events', counts(49, 10, 10), 'ok'],
]
for (const [what, recent, status] of SCORES) {
  test(`${what} is ${status}`, () => assert.equal(judge([recent], [POOR]).status, status))
}

const FIELDS: readonly [what: string, recent: FieldCounts<Field>, usual: FieldCounts<Field>, status: string][] = [
  ['lost altogether', counts(40, 40, 0), WHOLE, 'critical'],
  ['lost, in too few events to say', counts(29, 29, 0), WHOLE, 'ok'],
  ['present a third as often', counts(300, 300, 100), WHOLE, 'warning'],
  ['present two thirds as often', counts(300, 300, 200), WHOLE, 'ok'],
  ['hardly ever there and now gone', counts(300, 300, 0), counts(1_000, 1_000, 90), 'ok'],
  ['not known from before', counts(300, 300, 0), counts(99, 99, 99), 'ok'],
]
for (const [what, recent, usual, status] of FIELDS) {
  test(`a field that is ${what} is ${status}`, () => {
    const fields = judge([recent], [usual]).details.findings.filter(({ subject }) => subject.field === 'currency')
    assert.equal(fields[0]?.status ?? 'ok', status)
  })
}

test('a lost field is named, with what is usual and since when', () => {
  const { details } = judge([
    ...Array.from({ length: 10 }, () => counts(20, 20, 20)),
    counts(20, 20, 0),
    counts(20, 20, 0),
  ])
  const finding = details.findings.find(({ subject }) => subject.field === 'currency')
  assert.equal(finding?.message, '“currency” is present in 0 % of 40 “purchase” events in 10 min; usually 100 %')
  assert.equal(finding?.since, isoTime(NOON - 2 * SLOT))
})

test('a site without such data is not judged', () => {
  const input = { now: NOON, fields: ['value', 'currency'], kinds: [], score } as const
  const { status, details } = userDataQuality(input, QUALITY_DEFAULTS)
  assert.deepEqual([status, details.judged], ['ok', 0])
})

test('without a bound that a user set, no level is bad, however low it is and always was', () => {
  const { status, details } = judge([POOR], [POOR], QUALITY_DEFAULTS)
  assert.deepEqual([status, details.findings], ['ok', []])
})

test('a field that comes in clumps has to be gone from more events before it is lost', () => {
  const hour = (present: number) => counts(100, 100, present)
  const steady = Array.from({ length: 100 }, () => hour(30))
  const clumped = Array.from({ length: 100 }, (_, n) => hour(n % 2 === 0 ? 60 : 0))
  const gone = (events: number, usual: readonly FieldCounts<Field>[]) =>
    judge([counts(events, events, 0)], usual, QUALITY_DEFAULTS).status
  assert.deepEqual([gone(100, steady), gone(100, clumped), gone(10_000, clumped)], ['critical', 'ok', 'critical'])
})

test('few hours hardly tell in what clumps a field comes: they are no norm, unless it is always there', () => {
  const gone = (hours: number, present: number) => {
    const usual = Array.from({ length: hours }, () => counts(200, 200, present))
    return judge([counts(150, 150, 0)], usual, QUALITY_DEFAULTS).status
  }
  assert.deepEqual([gone(1, 52), gone(2, 52), gone(100, 52)], ['ok', 'ok', 'critical'])
  assert.deepEqual([gone(1, 200), gone(2, 200)], ['critical', 'critical'])
})

/** A week in which nine in ten of a hundred events a five minutes are page views, which have no currency; twice as many on the last two days. */
const MIXED_WEEK = Array.from({ length: 7 * 24 }, (_, hour) => {
  const events = hour < 5 * 24 ? 1_200 : 2_400
  return counts(events, 0, events / 10)
})
const MIXED: readonly [what: string, total: number, present: number, status: string][] = [
  ['as usual', 100, 10, 'ok'],
  ['as usual on a busy day', 200, 20, 'ok'],
  ['thinned out by five times as many page views', 460, 10, 'ok'],
  ['thinned out so, and rarer by chance', 460, 7, 'ok'],
  ['lost from seven in ten', 100, 3, 'warning'],
  ['lost from eight in ten on a busy day', 200, 4, 'warning'],
  ['lost from all, while bots bring five times as many page views', 460, 0, 'critical'],
]
for (const [what, total, present, status] of MIXED) {
  test(`a field of batches, which do not say on which events, is ${status} when it is ${what}`, () => {
    const day = Array.from({ length: 4 * 12 }, () => counts(total, 0, present))
    assert.equal(judge(day, MIXED_WEEK, QUALITY_DEFAULTS, null).status, status)
  })
}

test('of an event that is named, a flood without a field is a loss: all of these events could have it', () => {
  const flood = Array.from({ length: 4 * 12 }, () => counts(460, 0, 10))
  assert.equal(judge(flood, MIXED_WEEK, QUALITY_DEFAULTS, 'page_view').status, 'warning')
})

test('each kind of event is judged separately: many anonymous page views hide no purchase without its currency', () => {
  const at = { from: NOON - SLOT, to: NOON }
  const before = { from: WEEK_BEFORE, to: WEEK_BEFORE + HOUR }
  const { status, details } = ecommerceQuality(
    {
      now: NOON,
      fields: ['value', 'currency'],
      kinds: [
        {
          event_name: 'page_view',
          recent: [{ ...at, fields: counts(10_000, 0, 0) }],
          past: past([{ ...before, fields: counts(10_000, 0, 0) }]),
        },
        {
          event_name: 'purchase',
          recent: [{ ...at, fields: counts(40, 40, 0) }],
          past: past([{ ...before, fields: counts(500, 500, 500) }]),
        },
      ],
      score,
    },
    QUALITY_DEFAULTS,
  )
  assert.equal(status, 'critical')
  assert.deepEqual(
    details.findings.map(({ subject }) => subject),
    [{ event_name: 'purchase', field: 'currency' }],
  )
})
