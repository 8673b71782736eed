import { duration, isoTime, number, percent } from '../lib/index.ts'
import { sum } from './statistics.ts'
import {
  latest,
  pooled,
  type ReferenceConfig,
  type Runs,
  type TagReference,
  tagReference,
  tellingAbsence,
  withoutRuns,
} from './tag-reference.ts'
import type { TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

/** How often a tag ran on an event, in the buckets of `TagMissingInput`. From per-event payloads only. */
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
  /** The last 24 hours up to now, oldest first; the newest hour is incomplete. */
  readonly hours: readonly TimeRange[]
  /** The last hour up to now in buckets of a few minutes. */
  readonly slots: readonly TimeRange[]
  readonly events: readonly EventOccurrences[]
  readonly pairs: readonly TagOnEvent[]
  /** Executions of each tag on all events together, in `slots`. */
  readonly executions: ReadonlyMap<string, readonly number[]>
}

export interface TagMissingConfig extends ReferenceConfig {
  /** … and recent occurrences, on almost none of which it ran. */
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

/** A tag and an event that it is expected to run on. */
interface ExpectedPair {
  readonly pair: TagOnEvent
  readonly event: EventOccurrences
  readonly reference: TagReference
}

/** Judges which tags no longer run on an event on which they always did. */
export function tagMissing(input: TagMissingInput, config: TagMissingConfig): Verdict {
  const events = new Map(input.events.map((event) => [event.event_name, event]))
  // A site that switched to batches still runs tags, but no longer reports on which event.
  const reportsPairs =
    sum(input.pairs.flatMap(({ hours }) => hours)) > 0 || sum([...input.executions.values()].flat()) === 0
  const expectedPairs = input.pairs
    .flatMap((pair): ExpectedPair[] => {
      const event = events.get(pair.event_name)
      const reference = event === undefined ? null : tagReference(pair.days, event.days, input.days, config)
      return event === undefined || reference === null ? [] : [{ pair, event, reference }]
    })
    // When a tag is missing from several events, the most frequent one represents all.
    .toSorted((a, b) => sum(b.event.hours) - sum(a.event.hours))
  const byTag = Map.groupBy(expectedPairs, ({ pair }) => pair.tag_key)
  const absences = new Map(Array.from(byTag, ([tag, ofTag]) => [tag, absenceOf(ofTag, input, config)] as const))
  const judged = expectedPairs.map((expectedPair) =>
    judge(expectedPair, absences.get(expectedPair.pair.tag_key) ?? null, input, reportsPairs, config),
  )
  const unjudged = Array.from({ length: input.pairs.length - expectedPairs.length }, () => null)
  const whenFine = tagsThat(judged, 'runs on the events it belongs to', 'run on the events they belong to')
  const verdict = verdictOf([...judged, ...unjudged], whenFine)
  const bad = new Set(verdict.details.findings.map(({ subject }) => subject.tag_key))
  const isIdle = (tag: string, ofTag: readonly ExpectedPair[]) =>
    (absences.get(tag) ?? null) !== null || (reportsPairs && isIdleForHours(tag, ofTag, input, config))
  const idle = [...byTag].filter(([tag, ofTag]) => bad.has(tag) && isIdle(tag, ofTag))
  return { ...verdict, idle: new Map(idle.map(([tag, ofTag]) => [tag, ofTag.map(({ pair }) => pair.event_name)])) }
}

/** Minutes in which a tag ran on nothing, although its events came so often that this is no chance. */
interface Absence extends TimeRange {
  /** Of all events that the tag belongs to. */
  readonly occurrences: number
}

function absenceOf(
  expectedPairs: readonly ExpectedPair[],
  input: TagMissingInput,
  config: TagMissingConfig,
): Absence | null {
  const runs = input.executions.get(expectedPairs[0]?.pair.tag_key ?? '') ?? []
  const absence = withoutRuns(input.slots, together(expectedPairs, input, 'slots'), runs)
  return isTelling(absence, expectedPairs, input, config) ? absence : null
}

/** The same by whole hours, for tags of events too rare to judge within one hour. */
function isIdleForHours(
  tag: string,
  expectedPairs: readonly ExpectedPair[],
  input: TagMissingInput,
  config: TagMissingConfig,
): boolean {
  const ofTag = input.pairs.filter(({ tag_key }) => tag_key === tag)
  const runs = input.hours.map((_, index) => sum(ofTag.map(({ hours }) => hours[index] ?? 0)))
  return isTelling(
    withoutRuns(input.hours, together(expectedPairs, input, 'hours'), runs),
    expectedPairs,
    input,
    config,
  )
}

/** Occurrences of all events that a tag belongs to. */
const together = (
  expectedPairs: readonly ExpectedPair[],
  input: TagMissingInput,
  grain: 'hours' | 'slots',
): readonly number[] => input[grain].map((_, index) => sum(expectedPairs.map(({ event }) => event[grain][index] ?? 0)))

function isTelling(
  { occurrences }: Runs,
  expectedPairs: readonly ExpectedPair[],
  input: TagMissingInput,
  config: TagMissingConfig,
): boolean {
  const usual = pooled(expectedPairs.map(({ reference }) => reference.days))
  return occurrences >= tellingAbsence(usual, together(expectedPairs, input, 'hours'), config.recent_occurrences)
}

function judge(
  expectedPair: ExpectedPair,
  absence: Absence | null,
  input: TagMissingInput,
  reportsPairs: boolean,
  config: TagMissingConfig,
): Finding | null {
  const { pair, event, reference } = expectedPair
  const enough = config.recent_occurrences
  // Tags on events are counted by the hour only. Within the current hour, a tag ran on an event at most as often as it ran at
  // all, which is enough to find a dead tag within minutes.
  const atMost = latest(input.slots, event.slots, input.executions.get(pair.tag_key) ?? [], enough)
  const byHour = reportsPairs ? latest(input.hours, event.hours, pair.hours, enough) : null
  const isMissing = ({ runs, occurrences }: Runs) => runs < config.recent_share * occurrences
  const missing = [atMost, byHour].filter((runs) => runs !== null).find(isMissing)
  const absent = missing ?? absentSince(expectedPair, absence, input, reportsPairs, config)
  const seen = absent ?? byHour ?? atMost
  if (seen === null) return null
  const successor = absent === null ? null : successorOf(pair, event, absent, input)
  const { occurrences, runs } = seen
  const since = absent === null ? null : goneSince(pair, absent, absence, input)
  const onNone = missing === undefined && absence !== null ? absence.occurrences : null
  return {
    subject: { event_name: pair.event_name, tag_key: pair.tag_key },
    status: absent === null ? 'ok' : missing === undefined || successor !== null ? 'warning' : 'critical',
    message: [
      `“${pair.tag_key}” ran on `,
      onNone === null || onNone === occurrences
        ? `${number(Math.min(runs, occurrences))} of the last ${number(occurrences)} “${pair.event_name}” events (${duration(seen.to - seen.from)})`
        : `none of the last ${number(onNone)} events that it belongs to (${duration(seen.to - seen.from)}), ${number(occurrences)} of them “${pair.event_name}”`,
      `; it used to run on ${percent(reference.runs / reference.occurrences)}`,
      successor === null ? '' : `; “${successor}” runs instead: renamed or replaced?`,
    ].join(''),
    measured: Math.min(1, runs / occurrences),
    expected: reference.runs / reference.occurrences,
    band: { low: config.recent_share, high: null },
    since: since === null ? null : isoTime(since),
    evidence: {
      occurrences,
      runs,
      occurrences_of_all_its_events: onNone,
      reference_occurrences: reference.occurrences,
      reference_runs: reference.runs,
      reference_from: isoTime(reference.from),
      reference_to: isoTime(reference.to),
      successor,
    },
  }
}

/** The stretch in which a tag missed too many consecutive occurrences of an event for chance. */
function absentSince(
  { pair, event, reference }: ExpectedPair,
  absence: Absence | null,
  { hours, slots }: TagMissingInput,
  reportsPairs: boolean,
  config: TagMissingConfig,
): Runs | null {
  const inMinutes =
    absence === null ? 0 : sum(event.slots.filter((_, index) => (slots[index]?.from ?? 0) >= absence.from))
  if (absence !== null && inMinutes > 0) return { ...absence, occurrences: inMinutes, runs: 0 }
  if (!reportsPairs) return null
  const inHours = withoutRuns(hours, event.hours, pair.hours)
  return inHours.occurrences >= tellingAbsence(reference.days, event.hours, config.recent_occurrences) ? inHours : null
}

/**
 * Returns a tag that now runs instead of this one and had never run before the day on which this one ended. It stays “new” while this one is
 * missing.
 */
function successorOf(
  pair: TagOnEvent,
  event: EventOccurrences,
  absent: TimeRange,
  { pairs, days, hours }: TagMissingInput,
): string | null {
  const today = days.at(-1)?.to ?? 0
  const ranToday = hours.some(({ from }, index) => from >= today && (pair.hours[index] ?? 0) > 0)
  const until = ranToday ? days.length : pair.days.findLastIndex((runs) => runs > 0)
  const since = hours.findIndex(({ to }) => to > absent.from)
  // In the first of these hours this tag may still have run: those occurrences say nothing about others.
  const without = event.hours.map((occurrences, index) => Math.max(0, occurrences - (pair.hours[index] ?? 0)))
  const isNewcomer = (other: TagOnEvent): boolean =>
    other.event_name === pair.event_name &&
    sum(other.days.slice(0, until)) === 0 &&
    sum(other.hours.slice(since)) > sum(without.slice(since)) / 2
  return pairs.find(isNewcomer)?.tag_key ?? null
}

/**
 * Returns the end of the newest bucket in which the tag ran on the event, but at most the time from which it was seen not to run: the current hour
 * may contain a single execution among many missing ones, e.g. when the tag comes back. Accurate to the minute if the tag runs on nothing.
 */
function goneSince(
  pair: TagOnEvent,
  absent: TimeRange,
  absence: Absence | null,
  { days, hours }: TagMissingInput,
): number | null {
  const hour = pair.hours.findLastIndex((runs) => runs > 0)
  const day = pair.days.findLastIndex((runs) => runs > 0)
  const lastRun = hours[hour]?.to ?? days[day]?.to ?? absence?.from
  return lastRun === undefined ? null : Math.min(lastRun, absent.from, absence?.from ?? absent.from)
}
