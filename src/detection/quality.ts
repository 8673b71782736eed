import { duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { surprise } from './false-alarms.ts'
import { faultOnEach, learnFields, type PastField, type PastFields, type PresenceWeeks } from './past-fields.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { newestUntil } from './time.ts'
import { BUDGET, unusualStretch } from './unusual-share.ts'
import { eventsIn, type FieldCount, type FieldCounts, type PresenceBucket } from './usual-share.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'

/** Events of one name, or those of batches, which do not say of which events their counters are. */
export interface PresenceHistory<F extends string> {
  /** Null for batches. */
  readonly event_name: string | null
  /** The last 24 hours, oldest first; buckets without events may be missing. */
  readonly recent: readonly PresenceBucket<F>[]
  /** What the days before those say. */
  readonly past: PastFields<F>
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
  /** A field is lost when it is present less often than this share of its usual rate, and more seldom than chance explains, … */
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

/** What is usual of fields that may be lost. */
export const learnPresence = <F extends string>(
  fields: readonly F[],
  weeks: PresenceWeeks<F>,
  { lost_share }: Pick<QualityConfig, 'lost_share'>,
): PastFields<F> => learnFields(weeks, faultOnEach(fields, { times: lost_share }))

/** Whether the user data that events carry is good enough, and as complete as it used to be. */
export const userDataQuality = <F extends string>(input: QualityInput<F>, config: QualityConfig): Verdict =>
  judgeQuality('user data', input, config)

/** Whether the e-commerce data that events carry is good enough, and as complete as it used to be. */
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
    message: `score of ${what} ${number(Math.floor(measured))} of 100 over ${number(sum(window.map(eventsIn)))} events in ${duration(length)}`,
    measured,
    expected: null,
    band: { low: warning_score ?? critical_score ?? null, high: null },
    since: null,
    evidence: { score_at_best: atBest, window_minutes: length / MINUTE, ...ratesOf(fields, counts) },
  }
}

/** Says of how many events a field is present, and of how many usually. */
export type FieldSentence = (seen: string, expected: string) => string

export interface LostRule extends Pick<QualityConfig, 'lost_share' | 'lost_min_rate'> {
  /** False alarms in 30 days of this field. */
  budget: number
  /** Whether the counts are of events that never have the field, too, without saying how many of them; left out, those of batches are. */
  isMixed?: boolean
  /** Share of what is known of the week that may be left while nothing is wrong; 1 where it is not given. */
  levelOf?: (known: PastField) => number
  /** By how much the level wavers as far as more than the week says, as `wavering` of the share; null where no more is known. */
  waveringOf?: (known: PastField) => number | null
}

/**
 * Whether a field is present as often as on the same kind of event in the days before: only the site knows how often it should
 * be. An anonymous page view is no fault, a purchase without its e-mail address is.
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
  // Campaigns bring other visitors and end by themselves: what the day with the least had is usual, too.
  const level = levelOf?.(known) ?? 1
  const wavering = Math.max(known.wavering, waveringOf?.(known) ?? 0)
  const usual = { ...known, wavering, rateAt: (time: number) => level * known.leastLevel * known.rateAt(time) }
  const isLow = (share: number, rate: number): boolean => share < lost_share * rate
  // A flood of page views thins out what purchases carry, where batches count them together.
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

const ratesOf = <F extends string>(fields: readonly F[], counts: FieldCounts<F>): Record<string, number | null> =>
  Object.fromEntries(
    fields.map((field) => [
      `${field}_rate`,
      counts[field].total === 0 ? null : counts[field].present / counts[field].total,
    ]),
  )

const mapFields = <F extends string>(fields: readonly F[], of: (field: F) => FieldCount): FieldCounts<F> =>
  Object.fromEntries(fields.map((field) => [field, of(field)])) as Record<F, FieldCount>
