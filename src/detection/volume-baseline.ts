import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { burstSizeOfWeeks } from './burst.ts'
import { type LocalTime, sameHoursBefore, type TimeRange, touchesAny } from './time.ts'

/** Events of one UTC hour, all of them and by name. */
export interface HourCounts {
  readonly total: number
  readonly events: ReadonlyMap<string, number>
}

export interface HourHistory {
  /** By the start of the UTC hour. An hour that is missing had no events. */
  readonly hours: ReadonlyMap<number, HourCounts>
  /** Before this nothing is known, because the site did not exist or its rows are gone. */
  readonly knownFrom: number
  /** When the service itself was down. Hours that touch it are not known. */
  readonly outages: readonly TimeRange[]
}

/** What an hour is compared with; null where it is not known. */
export interface Reference {
  /** The same hour of the week, last week first. */
  readonly weeks: readonly (HourCounts | null)[]
  /** The same hour of the day before, for sites too young for weeks. */
  readonly yesterday: HourCounts | null
}

/** What the hours up to one hour are compared with. Worth keeping until the next hour begins. */
export interface VolumeBaseline {
  referenceAt(utcHour: number): Reference
  /** Every event name in what may be referred to. */
  readonly names: readonly string[]
  /** How many events come at a time, of a name or (null) of all, as estimated from the weeks. */
  burstOf(name: string | null): number
}

/** Weeks that must be known; with fewer, yesterday is the comparison. */
export const MIN_WEEKS = 2

const NOTHING: HourCounts = { total: 0, events: new Map() }
const DAYS_A_WEEK = 7

/** The hours whose counts `volumeBaseline` looks at, for a query. */
export function volumeHours(clock: LocalTime, now: number, weeks: number): number[] {
  const hours = hoursBefore(now).flatMap((hour) => [
    ...sameHoursBefore(clock, hour, DAYS_A_WEEK, weeks),
    ...sameHoursBefore(clock, hour, 1, 1),
  ])
  return [...new Set(hours)].toSorted((a, b) => a - b)
}

export function volumeBaseline(history: HourHistory, clock: LocalTime, now: number, weeks: number): VolumeBaseline {
  const countsAt = (hour: number): HourCounts | null =>
    hour < history.knownFrom || touchesAny({ from: hour, to: hour + HOUR }, history.outages)
      ? null
      : (history.hours.get(hour) ?? NOTHING)
  const reference = (hour: number): Reference => ({
    weeks: sameHoursBefore(clock, hour, DAYS_A_WEEK, weeks).map(countsAt),
    yesterday: sameHoursBefore(clock, hour, 1, 1).map(countsAt)[0] ?? null,
  })
  const references = new Map(hoursBefore(now).map((hour) => [hour, reference(hour)]))
  const names = new Set<string>()
  for (const { weeks: same, yesterday } of references.values()) {
    for (const counts of [...same, yesterday]) for (const name of counts?.events.keys() ?? []) names.add(name)
  }
  const bursts = new Map<string | null, number>()
  const burstOf = (name: string | null): number => {
    const burst = bursts.get(name) ?? burstSizeOfWeeks(knownWeeks([...references.values()], name))
    bursts.set(name, burst)
    return burst
  }
  return { referenceAt: (hour) => references.get(hour) ?? reference(hour), names: [...names], burstOf }
}

/**
 * The start of the next hour that there is something to compare with, the one under way included. A time to come may be compared
 * with hours that have not ended yet.
 */
export function nextKnownHour({ referenceAt }: VolumeBaseline, now: number): number {
  const hours = Array.from({ length: DAY / HOUR + 1 }, (_, index) => floorTo(now, HOUR) + index * HOUR)
  const isKnown = (hour: number): boolean => {
    const { weeks, yesterday } = referenceAt(hour)
    return yesterday !== null || weeks.filter((week) => week !== null).length >= MIN_WEEKS
  }
  return hours.find(isKnown) ?? floorTo(now, HOUR) + DAY
}

/** Counts of a name by week, in the hours that are known of every week. */
function knownWeeks(references: readonly Reference[], name: string | null): number[][] {
  const whole = references.map(({ weeks }) => weeks.filter((hour) => hour !== null)).filter(isWhole(references))
  const [first] = whole
  return (first ?? []).map((_, week) =>
    whole.map((hours) => (name === null ? hours[week]?.total : hours[week]?.events.get(name)) ?? 0),
  )
}

/** Hours of which as many weeks are known as there are at all. */
const isWhole = (references: readonly Reference[]) => {
  const most = Math.max(0, ...references.map(({ weeks }) => weeks.filter((hour) => hour !== null).length))
  return (hours: readonly HourCounts[]): boolean => hours.length === most
}

/** The hours that the last 24 hours touch, and one more on either side: what an hour has depends on its neighbours. */
function hoursBefore(now: number): number[] {
  const next = floorTo(now, HOUR) + HOUR
  return Array.from({ length: DAY / HOUR + 3 }, (_, index) => next - index * HOUR)
}
