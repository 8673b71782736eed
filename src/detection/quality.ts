import { duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { newestUntil, type TimeRange } from './buckets.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'

/** How often a field was there, out of `total` events that could have had it. */
export interface FieldCount {
  readonly present: number
  readonly total: number
}

export type FieldCounts<F extends string> = Readonly<Record<F, FieldCount>>

export interface PresenceBucket<F extends string> extends TimeRange {
  readonly fields: FieldCounts<F>
}

export interface QualityInput<F extends string> {
  now: number
  /** The last 24 hours, oldest first; buckets without events may be missing. */
  recent: readonly PresenceBucket<F>[]
  /** The seven days before those. */
  usual: FieldCounts<F>
  /** The score of such counts, 0–100; null without data. Must not fall when a field is present more often. */
  score: (fields: FieldCounts<F>) => number | null
}

export interface QualityConfig {
  window_minutes: number
  /** With fewer events in the window as much more of the last 24 hours is taken as it takes. */
  min_events: number
  warning_score: number
  critical_score: number
  /** A field is lost when it is surely present less often than this share of its usual rate … */
  lost_share: number
  /** … and usually is at least at this rate. */
  lost_min_rate: number
}

export const QUALITY_DEFAULTS: QualityConfig = {
  window_minutes: 60,
  min_events: 50,
  warning_score: 70,
  critical_score: 50,
  lost_share: 0.5,
  lost_min_rate: 0.1,
}

/** Events that a field's usual rate is known from, and that its present one is. */
const MIN_USUAL_EVENTS = 100
const FIELD_EVENTS = [30, 100] as const
/** A field this far gone is gone for good, not present less often. */
const GONE_SHARE = 0.1

/** Whether the user data that events carry is good enough, and as complete as it used to be. */
export const userDataQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('user data', input, config)

/** Whether the e-commerce data that events carry is good enough, and as complete as it used to be. */
export const ecommerceQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('e-commerce data', input, config)

function judgeQuality<F extends string>(what: string, input: QualityInput<F>, config: QualityConfig): Verdict {
  const fields = Object.keys(input.usual) as F[]
  const site = judgeScore(what, fields, input, config)
  return verdictOf(
    [site, ...fields.map((field) => judgeField(field, input, config))],
    site?.message ?? `too few events with ${what} to judge`,
  )
}

function judgeScore<F extends string>(
  what: string,
  fields: readonly F[],
  { now, recent, score }: QualityInput<F>,
  config: QualityConfig,
): Finding | null {
  const start = now - config.window_minutes * MINUTE
  const window = newestUntil(recent, start, eventsIn, config.min_events)
  if (window === null) return null
  const counts = totalOf(fields, window)
  const measured = score(counts)
  const atBest = score(atUpperBounds(counts))
  if (measured === null || atBest === null) return null
  const status = atBest < config.critical_score ? 'critical' : atBest < config.warning_score ? 'warning' : 'ok'
  const length = now - Math.min(window[0]?.from ?? now, start)
  return {
    subject: {},
    status,
    message: `score of ${what} ${number(Math.round(measured))} of 100 over ${number(sum(window.map(eventsIn)))} events in ${duration(length)}`,
    measured,
    expected: null,
    band: { low: config.warning_score, high: null },
    since: null,
    evidence: { score_at_best: atBest, window_minutes: length / MINUTE, ...ratesOf(fields, counts) },
  }
}

/** The score alone would miss it: a site that loses `currency` altogether still has 80 of 100. */
function judgeField<F extends string>(
  field: F,
  { now, recent, usual }: QualityInput<F>,
  config: QualityConfig,
): Finding | null {
  const before = usual[field]
  const expected = before.present / before.total
  if (before.total < MIN_USUAL_EVENTS || expected < config.lost_min_rate) return null
  const limit = config.lost_share * expected
  // A field that is always there and now gone shows in the first 30 events, one that is often there in the first 100.
  const looks = FIELD_EVENTS.map((events) =>
    lookAtField(
      field,
      newestUntil(recent, now, ({ fields }) => fields[field].total, events),
    ),
  )
  const look = looks.find((seen) => seen !== null && seen.high < limit) ?? looks[0]
  if (look === null || look === undefined) return null
  const { window, present, total, high } = look
  const isLost = high < limit
  const status: Status = !isLost ? 'ok' : present / total < GONE_SHARE * expected ? 'critical' : 'warning'
  const length = now - (window[0]?.from ?? now)
  return {
    subject: { field },
    status,
    message: `“${field}” is present in ${percent(present / total)} of ${number(total)} events in ${duration(length)}; ${percent(expected)} are usual`,
    measured: present / total,
    expected,
    band: { low: limit, high: null },
    since: isLost ? isoTime(lossBegan(field, recent, expected)) : null,
    evidence: { present, total, upper_bound: high, usual_present: before.present, usual_total: before.total },
  }
}

/** Every five minutes several fields are looked at: at 95 % some would be lost by chance. */
function lookAtField<F extends string>(field: F, window: readonly PresenceBucket<F>[] | null) {
  if (window === null) return null
  const { present, total } = totalOf([field], window)[field]
  return { window, present, total, high: wilson(present, total, Z_999).high }
}

/** The loss began where the missing fields add up to most (CUSUM, Page 1954). */
function lossBegan<F extends string>(field: F, buckets: readonly PresenceBucket<F>[], expected: number): number {
  const neutral = 0.75 * expected
  let deficit = 0
  let most = { deficit: Number.NEGATIVE_INFINITY, from: 0 }
  for (const { from, fields } of buckets.toReversed()) {
    deficit += neutral * fields[field].total - fields[field].present
    if (deficit > most.deficit) most = { deficit, from }
  }
  return most.from
}

function totalOf<F extends string>(fields: readonly F[], buckets: readonly PresenceBucket<F>[]): FieldCounts<F> {
  return mapFields(fields, (field) => ({
    present: sum(buckets.map((bucket) => bucket.fields[field].present)),
    total: sum(buckets.map((bucket) => bucket.fields[field].total)),
  }))
}

/** The most that the counts allow the rates to be: a score of few events has to be surely low. */
function atUpperBounds<F extends string>(counts: FieldCounts<F>): FieldCounts<F> {
  return mapFields(Object.keys(counts) as F[], (field) => {
    const { present, total } = counts[field]
    return { present: total * wilson(present, total).high, total }
  })
}

/** Events in a bucket: the fields' bases differ, the largest is that of all. */
export const eventsIn = <F extends string>({ fields }: PresenceBucket<F>): number =>
  Math.max(0, ...Object.values<FieldCount>(fields).map(({ total }) => total))

const ratesOf = <F extends string>(fields: readonly F[], counts: FieldCounts<F>): Record<string, number | null> =>
  Object.fromEntries(
    fields.map((field) => [
      `${field}_rate`,
      counts[field].total === 0 ? null : counts[field].present / counts[field].total,
    ]),
  )

const mapFields = <F extends string>(fields: readonly F[], of: (field: F) => FieldCount): FieldCounts<F> =>
  Object.fromEntries(fields.map((field) => [field, of(field)])) as Record<F, FieldCount>
