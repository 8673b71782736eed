import { duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { surprise } from './false-alarms.ts'
import { faultOnEach, learnFields, type PastField, type PastFields, type PresenceWeeks } from './past-fields.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { newestUntil } from './time.ts'
import { BUDGET, unusualStretch } from './unusual-share.ts'
import { eventsIn, type FieldCount, type FieldCounts, type PresenceBucket } from './usual-share.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'

/** Events of one name, or those of batches, whose counters do not say which events they belong to. */
export interface PresenceHistory<F extends string> {
  /** Null for batches. */
  readonly event_name: string | null
  /** The last 24 hours, oldest first; buckets without events may be missing. */
  readonly recent: readonly PresenceBucket<F>[]
  /** What is learnt from the days before. */
  readonly past: PastFields<F>
}

export interface QualityInput<F extends string> {
  now: number
  fields: readonly F[]
  kinds: readonly PresenceHistory<F>[]
  /** Returns the score of such counts, 0–100; null without data. Must not fall when a field is present more often. */
  score: (fields: FieldCounts<F>) => number | null
}

export interface QualityConfig {
  window_minutes: number
  /** With fewer events in the window, as much of the last 24 hours is judged as it takes. */
  min_events: number
  /** The score is judged only if someone has set bounds, because no level is right for every site. */
  warning_score?: number | undefined
  critical_score?: number | undefined
  /** A field is lost when it is present at less than this share of its usual rate, and chance does not explain it, … */
  lost_share: number
  /** … and its usual rate is at least this. */
  lost_min_rate: number
}

export const QUALITY_DEFAULTS = {
  window_minutes: 60,
  min_events: 50,
  lost_share: 0.5,
  lost_min_rate: 0.1,
} as const satisfies QualityConfig

/** Events needed to know a field's usual rate, and numbers of newest events to try for its current one. */
export const MIN_USUAL_EVENTS = 100
const FIELD_EVENTS = [30, 100, 300, 1_000, 3_000] as const
/** Below this share of its usual rate, a field counts as gone, not as reduced. */
const GONE_SHARE = 0.1

/** Learns what is usual for fields that may be lost. */
export const learnPresence = <F extends string>(
  fields: readonly F[],
  weeks: PresenceWeeks<F>,
  { lost_share }: Pick<QualityConfig, 'lost_share'>,
): PastFields<F> => learnFields(weeks, faultOnEach(fields, { times: lost_share }))

/** Judges whether the user data on events is good enough, and as complete as it used to be. */
export const userDataQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('user data', input, config)

/** Judges whether the e-commerce data on events is good enough, and as complete as it used to be. */
export const ecommerceQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('e-commerce data', input, config)

function judgeQuality<F extends string>(what: string, input: QualityInput<F>, config: QualityConfig): Verdict {
  const site = judgeScore(what, input, config)
  const budget = BUDGET / Math.max(1, input.kinds.length * input.fields.length)
  const ofFields = input.kinds.flatMap((kind) =>
    input.fields.map((field) => judgeField(field, kind, input.now, { ...config, budget })),
  )
  const judged = ofFields.filter((finding) => finding !== null).length
  return verdictOf(
    site === undefined ? ofFields : [site, ...ofFields],
    site?.message ?? `${what}: ${number(judged)} ${judged === 1 ? 'field is' : 'fields are'} there as often as usual`,
  )
}

/** Undefined when no bound is set, null when there are too few events. */
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
    message: `score of ${what} ${number(Math.floor(measured))} of 100 over ${number(sum(window.map(eventsIn)))} events in ${duration(length)}`,
    measured,
    expected: null,
    band: { low: warning_score ?? critical_score ?? null, high: null },
    since: null,
    evidence: { score_at_best: atBest, window_minutes: length / MINUTE, ...ratesOf(fields, counts) },
  }
}

/** Makes a message from the current rate of a field and its usual one. */
export type FieldSentence = (seen: string, expected: string) => string

export interface LostRule extends Pick<QualityConfig, 'lost_share' | 'lost_min_rate'> {
  /** False alarms in 30 days for this field. */
  budget: number
  /** Whether the counts include an unknown number of events that never have the field. By default, counts of batches do. */
  isMixed?: boolean
  /** The share of the week's rate that may remain while nothing is wrong; default 1. */
  levelOf?: (known: PastField) => number
  /** The variation of the level if more than a week is known, in the unit of `wavering`; otherwise null. */
  waveringOf?: (known: PastField) => number | null
}

/**
 * Judges whether a field is present as often as on the same kind of event in the days before. Only the site knows how often
 * it should be: an anonymous page view is no fault, a purchase without an e-mail address is.
 */
export function judgeField<F extends string>(
  field: F,
  { event_name, recent, past }: PresenceHistory<F>,
  now: number,
  { lost_share, lost_min_rate, budget, isMixed = event_name === null, levelOf, waveringOf }: LostRule,
  sentence: FieldSentence = (seen, expected) => `“${field}” is present in ${seen}; usually ${expected}`,
): Finding | null {
  const known = past.fields[field]
  if (known.total < MIN_USUAL_EVENTS || known.rate < lost_min_rate) return null
  // Campaigns bring different visitors and end some day, so the day with the lowest rate is usual, too.
  const level = levelOf?.(known) ?? 1
  const wavering = Math.max(known.wavering, waveringOf?.(known) ?? 0)
  const usual = { ...known, wavering, rateAt: (time: number) => level * known.leastLevel * known.rateAt(time) }
  const isLow = (share: number, rate: number): boolean => share < lost_share * rate
  // Batches count events together, so a flood of page views dilutes what purchases carry.
  const surplus = isMixed ? { eventsAt: known.eventsAt } : {}
  const seen = unusualStretch(field, recent, now, { usual, isBad: isLow, budget, ...surplus })
  if (seen === null) return null
  const { stretch, since } = seen
  const { first, present, total, chance, limit: needed } = stretch
  const expected = stretch.usual / level
  const share = present / total
  const status: Status = since === null ? 'ok' : share < GONE_SHARE * expected ? 'critical' : 'warning'
  const events = event_name === null ? 'events' : `“${event_name}” events`
  return {
    subject: event_name === null ? { field } : { event_name, field },
    status,
    message: sentence(
      `${percent(share)} of ${number(total)} ${events} in ${duration(now - (recent[first]?.from ?? now))}`,
      percent(expected),
    ),
    measured: share,
    expected,
    band: { low: lost_share * level * expected, high: null },
    since: since === null ? null : isoTime(since),
    evidence: {
      present,
      total,
      ...(since === null ? {} : surprise(chance, needed)),
      usual_present: usual.present,
      usual_total: usual.total,
      clumping: usual.together,
      last_seen: isoTime(recent.at(-1)?.to ?? now),
    },
  }
}

/** A field in its newest events. */
export interface AssessedField<F extends string> {
  window: readonly PresenceBucket<F>[]
  present: number
  total: number
  /** Upper bound of its rate. */
  high: number
}

/**
 * Returns as many of the newest events as show that the field is too rare, or else the fewest that say anything; null with
 * fewer. A field that is always present and now gone shows in the first 30 events, one that comes in clumps in later ones.
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

/** At 99.9 %, because several fields are judged every five minutes: at 95 %, some would seem lost by chance. */
function assessField<F extends string>(
  field: F,
  window: readonly PresenceBucket<F>[] | null,
  together: number,
): AssessedField<F> | null {
  if (window === null) return null
  const { present, total } = totalOf([field], window)[field]
  return { window, present, total, high: wilson(present / together, total / together, Z_999).high }
}

function totalOf<F extends string>(fields: readonly F[], buckets: readonly PresenceBucket<F>[]): FieldCounts<F> {
  return mapFields(fields, (field) => ({
    present: sum(buckets.map((bucket) => bucket.fields[field].present)),
    total: sum(buckets.map((bucket) => bucket.fields[field].total)),
  }))
}

/** The highest rates that the counts allow, because a score of few events must be low with certainty. */
function atUpperBounds<F extends string>(counts: FieldCounts<F>): FieldCounts<F> {
  return mapFields(Object.keys(counts) as F[], (field) => {
    const { present, total } = counts[field]
    return { present: total * wilson(present, total).high, total }
  })
}

const ratesOf = <F extends string>(fields: readonly F[], counts: FieldCounts<F>): Record<string, number | null> =>
  Object.fromEntries(
    fields.map((field) => [
      `${field}_rate`,
      counts[field].total === 0 ? null : counts[field].present / counts[field].total,
    ]),
  )

const mapFields = <F extends string>(fields: readonly F[], of: (field: F) => FieldCount): FieldCounts<F> =>
  Object.fromEntries(fields.map((field) => [field, of(field)])) as Record<F, FieldCount>
