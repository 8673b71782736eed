import {
  type BucketCounts,
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  type Feedback,
  type Finding,
  type HourCounts,
  type LocalTime,
  localTime,
  type TimeRange,
  usualCounts,
  type VolumeConfig,
  type VolumeInput,
  withoutOutages,
} from '../../src/detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'

/** A Wednesday, 12:00 UTC. */
export const NOON = Date.UTC(2026, 10, 18, 12)
export const SLOT = 5 * MINUTE

/** Buckets of one length that end at `to`, oldest first. */
export const bucketsUntil = (to: number, length: number, count: number): TimeRange[] =>
  Array.from({ length: count }, (_, index) => {
    const from = to - (count - index) * length
    return { from, to: from + length }
  })

/** Events per five minutes at a time, by name. The total is their sum. */
export type Rates = (time: number) => Readonly<Record<string, number>>

interface World {
  now?: number
  timezone?: string
  /** What earlier weeks had. */
  usual: Rates
  /** What came in the last 24 hours; like `usual` where not given. */
  recent?: Rates
  knownFrom?: number
  outages?: readonly TimeRange[]
  /** Holidays and marked days. */
  special?: readonly TimeRange[]
  feedback?: readonly Feedback[]
  weeks?: number
}

/** What the volume and freshness detectors see: five-minute buckets for the last six hours, hours before. */
export function volumeInput({ now = NOON, usual, recent = usual, timezone = 'UTC', ...rest }: World): VolumeInput {
  const { knownFrom = now - 40 * DAY, outages = [], special = [], feedback = [], weeks = 4 } = rest
  const clock: LocalTime = localTime(timezone)
  const start = floorTo(now, HOUR)
  const hours = new Map<number, HourCounts>()
  for (let hour = start - (7 * weeks + 2) * DAY; hour <= start; hour += HOUR) {
    const rates = hour < start - DAY ? usual : recent
    const events = new Map<string, number>()
    for (let time = hour; time < hour + HOUR; time += SLOT) {
      for (const [name, rate] of Object.entries(rates(time))) events.set(name, (events.get(name) ?? 0) + rate)
    }
    hours.set(hour, { total: [...events.values()].reduce((a, b) => a + b, 0), events })
  }
  const slots = bucketsUntil(now, SLOT, 72)
  const older = bucketsUntil(now - 72 * SLOT, HOUR, 18)
  return {
    usual: usualCounts({ hours, knownFrom, outages, special, feedback }, clock, now, weeks),
    recent: withoutOutages(
      { ...counted([...older, ...slots], recent), minutes: counted(bucketsUntil(now, MINUTE, 30), recent) },
      outages,
    ),
  }
}

function counted(buckets: readonly TimeRange[], rates: Rates): BucketCounts {
  const names = new Set(buckets.flatMap(({ from }) => Object.keys(rates(from))))
  const countsOf = (name: string) =>
    buckets.map(({ from, to }) => {
      let count = 0
      for (let time = from; time < to; time += SLOT) {
        count += ((rates(time)[name] ?? 0) * Math.min(SLOT, to - time)) / SLOT
      }
      return Math.round(count)
    })
  const events = new Map([...names].map((name) => [name, countsOf(name)]))
  const total = buckets.map((_, index) => [...events.values()].reduce((sum, counts) => sum + (counts[index] ?? 0), 0))
  return { buckets, total, events }
}

/** So many events in each five minutes. */
export const steady =
  (views: number, purchases = 0): Rates =>
  () =>
    purchases === 0 ? { page_view: views } : { page_view: views, purchase: purchases }

/** `before` until some time before noon, `after` from then on. */
export const changed =
  (slots: number, before: Rates, after: Rates): Rates =>
  (time) =>
    time < NOON - slots * SLOT ? before(time) : after(time)

/** What data_volume says. */
export const judge = (usual: Rates, recent: Rates, config: Partial<VolumeConfig> = {}, world = {}) =>
  dataVolume(volumeInput({ usual, recent, ...world }), { ...DATA_VOLUME_DEFAULTS, ...config })

/** Of all events of the site. */
export const siteOf = (findings: readonly Finding[]) => findings.find(({ subject }) => subject.event_name === undefined)
