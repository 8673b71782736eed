import { duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { clamp, sum, varianceBound, wilson, Z_999 } from './statistics.ts'
import { newestUntil, type TimeRange } from './time.ts'
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

/** Events of one name, or those of batches, which do not say of which events their counters are. */
export interface PresenceHistory<F extends string> {
  /** Null for batches. */
  readonly event_name: string | null
  /** The last 24 hours, oldest first; buckets without events may be missing. */
  readonly recent: readonly PresenceBucket<F>[]
  /** The seven days before those, hour by hour; hours without events may be missing. */
  readonly usual: readonly PresenceBucket<F>[]
}

export interface QualityInput<F extends string> {
  now: number
  fields: readonly F[]
  kinds: readonly PresenceHistory<F>[]
  /** The score of such counts, 0–100; null without data. Must not fall when a field is present more often. */
  score: (fields: FieldCounts<F>) => number | null
}

export interface QualityConfig {
  window_minutes: number
  /** With fewer events in the window as much more of the last 24 hours is taken as it takes. */
  min_events: number
  /** The score is judged only against bounds that someone has set: no level is right for every site. */
  warning_score?: number | undefined
  critical_score?: number | undefined
  /** A field is lost when it is surely present less often than this share of its usual rate … */
  lost_share: number
  /** … and usually is at least at this rate. */
  lost_min_rate: number
}

export const QUALITY_DEFAULTS = {
  window_minutes: 60,
  min_events: 50,
  lost_share: 0.5,
  lost_min_rate: 0.1,
} as const satisfies QualityConfig

/** Events that a field's usual rate is known from, and that its present one is. */
export const MIN_USUAL_EVENTS = 100
export const FIELD_EVENTS = [30, 100, 300, 1_000, 3_000] as const
/** A field this far gone is gone for good, not present less often. */
const GONE_SHARE = 0.1

/** Whether the user data that events carry is good enough, and as complete as it used to be. */
export const userDataQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('user data', input, config)

/** Whether the e-commerce data that events carry is good enough, and as complete as it used to be. */
export const ecommerceQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('e-commerce data', input, config)

function judgeQuality<F extends string>(what: string, input: QualityInput<F>, config: QualityConfig): Verdict {
  const site = judgeScore(what, input, config)
  const ofFields = input.kinds.flatMap((kind) =>
    input.fields.map((field) => judgeField(field, kind, input.now, config)),
  )
  const judged = ofFields.filter((finding) => finding !== null).length
  return verdictOf(
    site === undefined ? ofFields : [site, ...ofFields],
    site?.message ?? `${what}: ${number(judged)} ${judged === 1 ? 'field is' : 'fields are'} there as often as usual`,
  )
}

/** Undefined where no bound is set, null where there are too few events. */
function judgeScore<F extends string>(
  what: string,
  { now, fields, kinds, score }: QualityInput<F>,
  { warning_score, critical_score, window_minutes, min_events }: QualityConfig,
): Finding | null | undefined {
  if (warning_score === undefined && critical_score === undefined) return undefined
  const start = now - window_minutes * MINUTE
  const all = kinds.flatMap(({ recent }) => recent).toSorted((a, b) => a.from - b.from)
  const window = newestUntil(all, start, eventsIn, min_events)
  if (window === null) return null
  const counts = totalOf(fields, window)
  const measured = score(counts)
  const atBest = score(atUpperBounds(counts))
  if (measured === null || atBest === null) return null
  const status = atBest < (critical_score ?? 0) ? 'critical' : atBest < (warning_score ?? 0) ? 'warning' : 'ok'
  const length = now - Math.min(window[0]?.from ?? now, start)
  return {
    subject: {},
    status,
    message: `score of ${what} ${number(Math.round(measured))} of 100 over ${number(sum(window.map(eventsIn)))} events in ${duration(length)}`,
    measured,
    expected: null,
    band: { low: warning_score ?? critical_score ?? null, high: null },
    since: null,
    evidence: { score_at_best: atBest, window_minutes: length / MINUTE, ...ratesOf(fields, counts) },
  }
}

/** Says of how many events a field is present, and of how many usually. */
export type FieldSentence = (seen: string, expected: string) => string

/**
 * Whether a field is present as often as on the same kind of event in the days before: only the site knows how often it should
 * be. An anonymous page view is no fault, a purchase without its e-mail address is.
 */
export function judgeField<F extends string>(
  field: F,
  { event_name, recent, usual }: PresenceHistory<F>,
  now: number,
  config: Pick<QualityConfig, 'lost_share' | 'lost_min_rate'>,
  sentence: FieldSentence = (seen, expected) => `“${field}” is present in ${seen}; ${expected} are usual`,
): Finding | null {
  const before = totalOf([field], usual)[field]
  const expected = before.present / before.total
  if (before.total < MIN_USUAL_EVENTS || expected < config.lost_min_rate) return null
  const limit = config.lost_share * expected
  const together = clumping(field, usual, expected)
  const isLow = ({ window, present, total, high }: AssessedField<F>): boolean =>
    high < limit && !isOver(field, window, present / total, expected, together)
  const assessed = assessNewest(field, recent, now, together, isLow)
  if (assessed === null) return null
  const { window, present, total, high } = assessed
  const isLost = isLow(assessed)
  const status: Status = !isLost ? 'ok' : present / total < GONE_SHARE * expected ? 'critical' : 'warning'
  const length = now - (window[0]?.from ?? now)
  const events = event_name === null ? 'events' : `“${event_name}” events`
  return {
    subject: event_name === null ? { field } : { event_name, field },
    status,
    message: sentence(
      `${percent(present / total)} of ${number(total)} ${events} in ${duration(length)}`,
      percent(expected),
    ),
    measured: present / total,
    expected,
    band: { low: limit, high: null },
    since: isLost ? isoTime(lossBegan(field, recent, expected)) : null,
    evidence: {
      present,
      total,
      upper_bound: high,
      usual_present: before.present,
      usual_total: before.total,
      clumping: together,
      last_seen: isoTime(window.at(-1)?.to ?? now),
    },
  }
}

/**
 * How many events say as much as one that came alone: a visitor who is signed in is so on all pages, and at night others come
 * than by day. The variance of the hours' rates as a multiple of what chance gives them, at least 1 (a design effect, Kish 1965). Few
 * hours hardly tell it: then it is the most that it may be, so that a site's first hours make no norm for the next.
 */
export function clumping<F extends string>(field: F, hours: readonly PresenceBucket<F>[], rate: number): number {
  const counted = hours.map(({ fields }) => fields[field]).filter(({ total }) => total > 0)
  const chance = rate * (1 - rate)
  // A field that is always there has no variance to measure, and needs none.
  if (chance < 1e-6) return 1
  const squares = sum(counted.map(({ present, total }) => (present - rate * total) ** 2 / total))
  const freedom = counted.length - 1
  // One hour may be one clump.
  return freedom < 1
    ? sum(counted.map(({ total }) => total))
    : Math.max(1, squares / (chance * freedom)) * varianceBound(freedom)
}

/** What was seen of a field in its newest events. */
export interface AssessedField<F extends string> {
  window: readonly PresenceBucket<F>[]
  present: number
  total: number
  /** Most that its rate may be. */
  high: number
}

/**
 * The newest events, as many as show that the field is there too seldom, or the fewest that say anything; null with fewer.
 * A field that is always there and now gone shows in the first 30 events, one that comes in clumps in later ones.
 */
export function assessNewest<F extends string>(
  field: F,
  recent: readonly PresenceBucket<F>[],
  now: number,
  together: number,
  isLow: (seen: AssessedField<F>) => boolean,
): AssessedField<F> | null {
  const candidates = FIELD_EVENTS.map((events) =>
    assessField(
      field,
      newestUntil(recent, now, ({ fields }) => fields[field].total, events),
      together,
    ),
  )
  return candidates.find((seen) => seen !== null && isLow(seen)) ?? candidates[0] ?? null
}

/** Every five minutes several fields are looked at: at 95 % some would be lost by chance. */
function assessField<F extends string>(
  field: F,
  window: readonly PresenceBucket<F>[] | null,
  together: number,
): AssessedField<F> | null {
  if (window === null) return null
  const { present, total } = totalOf([field], window)[field]
  return { window, present, total, high: wilson(present / together, total / together, Z_999).high }
}

/** So sure that a rate came back that it is wrong once in six times (Ville 1939), as of falls. */
const RECOVERED = Math.log(6)
/** No rate is believed to be nearer to never or always. */
const LEAST_RATE = 0.005

/**
 * Whether the newest events speak for the usual rate against that of a window: what is over is no alarm any more, though the rarest events need a day until the
 * window has none of it (likelihood ratio, in clumps).
 *
 * @param window that the rate is of, oldest first
 * @param rate in it
 * @param usual rate
 */
export function isOver<F extends string>(
  field: F,
  window: readonly PresenceBucket<F>[],
  rate: number,
  usual: number,
  together: number,
): boolean {
  const [now, before] = [clamp(rate, LEAST_RATE, 1 - LEAST_RATE), clamp(usual, LEAST_RATE, 1 - LEAST_RATE)]
  const [there, missing] = [Math.log(before / now), Math.log((1 - before) / (1 - now))]
  let support = 0
  for (let index = window.length - 1; index >= 0; index--) {
    const count = window[index]?.fields[field]
    if (count === undefined) break
    support += count.present * there + (count.total - count.present) * missing
    if (support > RECOVERED * together) return true
  }
  return false
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
