import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR } from '../../lib/index.ts'

/** The parts of the demo's world. Shares and rates are fractions of 1. */

export interface ClientProfile {
  name: string
  email: string
  plan: 'business'
}

/** How often each field is present when the object is sent. */
export interface UserDataRates {
  /** Share of the events that carry user data. */
  sent: number
  email: number
  phone: number
  name: number
  place: number
}

export interface EcommerceRates {
  value: number
  currency: number
  items: number
  /** Absent on events that have no transaction. */
  transactionId?: number
}

export interface EventProfile {
  name: string
  /** Its frequency relative to the site's other events. */
  weight: number
  userData?: UserDataRates
  ecommerce?: EcommerceRates
  /** How often each of the site's own parameters is present. */
  own?: Readonly<Record<string, number>>
}

/** How visitors choose. */
export interface ConsentRates {
  /** Share of the events that carry a signal, … */
  signal: number
  /** … of those on which a choice follows the default, … */
  choice: number
  /** … and of these the shares that grant. */
  ads: number
  analytics: number
  /** Whether the Digital Markets Act applies. */
  dma: boolean
}

export interface TagProfile {
  id: string
  /** Absent when the tag does not send its name and is known as `tag_<id>`. */
  name?: string
  /** Event names it fires on, or all. */
  on: 'every event' | readonly string[]
  /** Median duration of a success, ms. */
  medianMs: number
  /** Standard deviation of the logarithm of its durations. */
  spread: number
  /** Everyday rates of each outcome. */
  failure: number
  timeout: number
  exception: number
  /** Runs only when ads are granted; other tags use their vendor's consent mode. */
  isAfterConsent?: boolean
  /** Whether its template reports how the vendor answered. */
  saysResponse?: boolean
}

export interface SiteProfile {
  client: ClientProfile
  name: string
  url: string
  timezone: string
  serverContainerId: string
  webContainerId: string
  /** Version of the web container when a new demo starts. */
  webVersion: number
  /** Version of the server container, which its events name. */
  serverVersion: number
  measurementId: string
  cmp: string
  consent: ConsentRates
  /** Value of an order; without it the cost of lost orders is unknown. */
  orders?: { average_order_value: number; currency: string }
  /** Events per batch; null sends one request per event. */
  batchSize: number | null
  /** Mean over a week. */
  eventsPerMinute: number
  /** Weights of the 24 local hours, each for the start of its hour. */
  hours: readonly number[]
  /** Weights of the local weekdays, Monday first. */
  weekdays: readonly number[]
  events: readonly EventProfile[]
  tags: readonly TagProfile[]
}

/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const WEEKDAY_OF_EPOCH = 3

/** The events per minute expected at a time (epoch ms): the site's mean, weighted by local hour and weekday. */
export type Rhythm = (time: number) => number

export function rhythmOf(site: SiteProfile): Rhythm {
  const hours = normalised(site.hours)
  const weekdays = normalised(site.weekdays)
  const offsetAt = zoneOffset(site.timezone)
  return (time) => {
    const local = time + offsetAt(time)
    const hour = (local % DAY) / HOUR
    const weekday = weekdays[(Math.floor(local / DAY) + WEEKDAY_OF_EPOCH) % weekdays.length] ?? 1
    return site.eventsPerMinute * weekday * between(hours, hour)
  }
}

/** Returns the zone's offset from UTC, ms. Caches the last UTC hour, because it is called for every minute. */
function zoneOffset(timezone: string): (time: number) => number {
  let known = { hour: Number.NaN, offset: 0 }
  return (time) => {
    const hour = floorTo(time, HOUR)
    if (known.hour !== hour) {
      const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(timezone)
      known = { hour, offset: offsetNanoseconds / 1e6 }
    }
    return known.offset
  }
}

/** The weights scaled to a mean of 1. */
function normalised(weights: readonly number[]): readonly number[] {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length
  return weights.map((weight) => weight / mean)
}

/** Interpolates between two values, so that traffic does not jump at full hours. */
function between(values: readonly number[], place: number): number {
  const before = Math.floor(place)
  const from = values[before % values.length] ?? 0
  const to = values[(before + 1) % values.length] ?? 0
  return from + (to - from) * (place - before)
}

/**
 * The beginning of the history: two hours early, because the full hours that *Today* compares with begin up to that long before.
 *
 * @param start end of the history, epoch ms
 */
export const historyBegin = (start: number, days: number): number => floorTo(start, HOUR) - days * DAY - 2 * HOUR
