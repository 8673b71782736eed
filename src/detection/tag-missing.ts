import { isoTime } from '../lib/index.ts'
import type { TimeRange } from './buckets.ts'
import { type Finding, type Verdict, verdictOf } from './verdict.ts'
import { duration, number, percent } from './words.ts'

/** How often a tag ran on an event, in the buckets of `TagMissingInput`. Per-event payloads only. */
export interface TagOnEvent {
  readonly event_name: string
  readonly tag_key: string
  readonly days: readonly number[]
  readonly hours: readonly number[]
}

/** How often an event came, in the buckets of `TagMissingInput`. */
export interface EventOccurrences {
  readonly event_name: string
  readonly days: readonly number[]
  readonly hours: readonly number[]
  readonly slots: readonly number[]
}

export interface TagMissingInput {
  /** The last 14 whole days, oldest first. */
  readonly days: readonly TimeRange[]
  /** The last 24 hours up to now, oldest first; the newest hour is not over. */
  readonly hours: readonly TimeRange[]
  /** The last hour up to now in buckets of a few minutes. */
  readonly slots: readonly TimeRange[]
  readonly events: readonly EventOccurrences[]
  readonly pairs: readonly TagOnEvent[]
  /** Executions by tag on all events together, in `slots`. */
  readonly executions: ReadonlyMap<string, readonly number[]>
}

export interface TagMissingConfig {
  /** Days in which the tag ran on nearly every occurrence … */
  reference_days: number
  reference_share: number
  reference_occurrences: number
  /** … and occurrences since, on nearly none of which it did. */
  recent_share: number
  recent_occurrences: number
}

export const TAG_MISSING_DEFAULTS: TagMissingConfig = {
  reference_days: 7,
  reference_share: 0.95,
  reference_occurrences: 100,
  recent_share: 0.05,
  recent_occurrences: 30,
}

/** Which tags no longer run on an event on which they always did. */
export function tagMissing(input: TagMissingInput, config: TagMissingConfig): Verdict {
  const events = new Map(input.events.map((event) => [event.event_name, event]))
  // A site that went over to batches still runs tags, but no longer says on which event.
  const reportsPairs =
    sumOf(input.pairs.flatMap(({ hours }) => hours)) > 0 || sumOf([...input.executions.values()].flat()) === 0
  const judged = input.pairs.map((pair) => {
    const event = events.get(pair.event_name)
    return event === undefined ? null : judgePair(pair, event, input, reportsPairs, config)
  })
  return verdictOf(
    judged,
    `${number(judged.filter((finding) => finding !== null).length)} tags run on the events they belong to`,
  )
}

/** Occurrences of an event, and how many of them a tag ran on. */
interface Runs extends TimeRange {
  readonly occurrences: number
  readonly runs: number
}

function judgePair(
  pair: TagOnEvent,
  event: EventOccurrences,
  input: TagMissingInput,
  reportsPairs: boolean,
  config: TagMissingConfig,
): Finding | null {
  const reference = referenceOf(pair, event, input.days, config)
  if (reference === null) return null
  const executions = input.executions.get(pair.tag_key) ?? []
  // Which event a tag ran on is known by the hour only. Within the hour this much is known: it ran on no more of the
  // event's occurrences than it ran at all. That finds a dead tag in minutes.
  const atMost = latest(input.slots, event.slots, executions, config)
  const byHour = latest(input.hours, event.hours, pair.hours, config)
  const candidates = [atMost, reportsPairs ? byHour : null].filter((runs) => runs !== null)
  if (candidates.length === 0) return null
  const missing = candidates.find(({ runs, occurrences }) => runs < config.recent_share * occurrences)
  const seen = missing ?? byHour ?? candidates[0]
  if (seen === undefined) return null
  const successor = missing === undefined ? null : successorOf(pair, event, input, config)
  const { occurrences, runs } = seen
  const since = missing === undefined ? null : lastRun(pair, input)
  return {
    subject: { event_name: pair.event_name, tag_key: pair.tag_key },
    status: missing === undefined ? 'ok' : successor === null ? 'critical' : 'warning',
    message: `“${pair.tag_key}” ran on ${number(Math.min(runs, occurrences))} of the last ${number(occurrences)} “${pair.event_name}” events (${duration(seen.to - seen.from)}); it used to run on ${percent(reference.runs / reference.occurrences)}${successor === null ? '' : `; “${successor}” runs instead: renamed or replaced?`}`,
    measured: Math.min(1, runs / occurrences),
    expected: reference.runs / reference.occurrences,
    band: { low: config.recent_share, high: null },
    since: since === null ? null : isoTime(since),
    evidence: {
      occurrences,
      runs,
      reference_occurrences: reference.occurrences,
      reference_runs: reference.runs,
      reference_from: isoTime(reference.from),
      reference_to: isoTime(reference.to),
      successor,
    },
  }
}

/**
 * The newest run of days on which the tag ran nearly always. Not simply the last seven: a day after a tag has died, those
 * would say that it never ran on all occurrences. Days before its first run do not count against a new tag.
 */
function referenceOf(
  pair: TagOnEvent,
  event: EventOccurrences,
  days: readonly TimeRange[],
  config: TagMissingConfig,
): Runs | null {
  const first = pair.days.findIndex((runs) => runs > 0)
  if (first === -1) return null
  for (let end = days.length; end >= Math.min(config.reference_days, days.length); end--) {
    const start = Math.max(first, end - config.reference_days)
    const [from, to] = [days[start]?.from, days[end - 1]?.to]
    if (from === undefined || to === undefined || start >= end) return null
    const occurrences = sumOf(event.days.slice(start, end))
    const runs = sumOf(pair.days.slice(start, end))
    const isReference = occurrences >= config.reference_occurrences && runs >= config.reference_share * occurrences
    if (isReference) return { from, to, occurrences, runs: Math.min(runs, occurrences) }
  }
  return null
}

/** The newest buckets that hold enough occurrences, null when all do not. */
function latest(
  buckets: readonly TimeRange[],
  occurrencesIn: readonly number[],
  runsIn: readonly number[],
  config: TagMissingConfig,
): Runs | null {
  let occurrences = 0
  let runs = 0
  const to = buckets.at(-1)?.to ?? 0
  for (let index = buckets.length - 1; index >= 0; index--) {
    occurrences += occurrencesIn[index] ?? 0
    runs += runsIn[index] ?? 0
    const from = buckets[index]?.from ?? 0
    if (occurrences >= config.recent_occurrences) return { from, to, occurrences, runs }
  }
  return null
}

/** A tag that now runs where this one did and never had before. */
function successorOf(
  pair: TagOnEvent,
  event: EventOccurrences,
  { pairs, hours }: TagMissingInput,
  config: TagMissingConfig,
): string | null {
  const isNewcomer = (other: TagOnEvent): boolean => {
    if (other.event_name !== pair.event_name || sumOf(other.days) > 0) return false
    const lately = latest(hours, event.hours, other.hours, config)
    return lately !== null && lately.runs > lately.occurrences / 2
  }
  return pairs.find(isNewcomer)?.tag_key ?? null
}

/** End of the newest bucket in which the tag ran on the event. */
function lastRun(pair: TagOnEvent, { days, hours }: TagMissingInput): number | null {
  const hour = pair.hours.findLastIndex((runs) => runs > 0)
  const day = pair.days.findLastIndex((runs) => runs > 0)
  return hours[hour]?.to ?? days[day]?.to ?? null
}

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
