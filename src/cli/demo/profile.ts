import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR } from '../../lib/index.ts'

/** What the demo's world is made of. Shares and rates are fractions of 1. */

export interface ClientProfile {
  name: string
  email: string
  plan: 'business'
}

/** How often each field is present where the object is sent at all. */
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
  /** How often it happens, compared with the site's other events. */
  weight: number
  userData?: UserDataRates
  ecommerce?: EcommerceRates
  /** How often each parameter of the site's own is there. */
  own?: Readonly<Record<string, number>>
}

/** What visitors choose. */
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
  /** Absent where the tag does not send its name: it is then known as `tag_<id>`. */
  name?: string
  /** Event names it fires on, or all. */
  on: 'every event' | readonly string[]
  /** Of half of its executions that succeed, ms. */
  medianMs: number
  /** Of the logarithm of its execution times. */
  spread: number
  /** Everyday failures. */
  failure: number
  timeout: number
  exception: number
  /** Runs where ads are granted; the others go by a consent mode of their vendor. */
  isAfterConsent?: boolean
  /** Its template has the lines that say how its vendor answered. */
  saysResponse?: boolean
}

export interface SiteProfile {
  client: ClientProfile
  name: string
  url: string
  timezone: string
  serverContainerId: string
  webContainerId: string
  /** Of the web container, as it is when a new demo starts. */
  webVersion: number
  /** Of the server container, which its events name. */
  serverVersion: number
  measurementId: string
  cmp: string
  consent: ConsentRates
  /** What an order is worth; without it nothing says what lost ones were. */
  orders?: { average_order_value: number; currency: string }
  /** Events a batch holds; null sends one request per event. */
  batchSize: number | null
  /** Mean over a week. */
  eventsPerMinute: number
  /** Weights of the 24 local hours, each holding at the hour's start. */
  hours: readonly number[]
  /** Weights of the local weekdays, Monday first. */
  weekdays: readonly number[]
  events: readonly EventProfile[]
  tags: readonly TagProfile[]
}

/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const WEEKDAY_OF_EPOCH = 3

/** Events per minute that a site expects at a time (epoch ms): its mean, bent by the local hour and weekday. */
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

/** The zone's offset from UTC, ms. Asked for every minute, so it remembers the UTC hour it looked up last. */
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

/** The weights with a mean of 1. */
function normalised(weights: readonly number[]): readonly number[] {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length
  return weights.map((weight) => weight / mean)
}

/** The value at a place between two, so that traffic does not jump at full hours. */
function between(values: readonly number[], place: number): number {
  const before = Math.floor(place)
  const from = values[before % values.length] ?? 0
  const to = values[(before + 1) % values.length] ?? 0
  return from + (to - from) * (place - before)
}

/**
 * Two hours early: the whole hours that *Today* compares with begin so long before the last week does, at most.
 *
 * @param start where the history ends, epoch ms
 */
export const historyBegin = (start: number, days: number): number => floorTo(start, HOUR) - days * DAY - 2 * HOUR
