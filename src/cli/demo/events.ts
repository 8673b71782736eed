import { Temporal } from 'temporal-polyfill'
import type { EventPayload } from '../../journal/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { Incident } from './incidents.ts'
import type { EcommerceRates, EventProfile, SiteProfile, TagProfile, UserDataRates } from './profile.ts'
import { logNormal, poisson, type Random, seededRandom, weighted } from './random.ts'
import { addValidity, asSecond, comesTwice, consentOf, identifierFlags, mayRun, responseOf } from './signals.ts'

/** How far whole hours stray from the rhythm. */
const HOUR_SPREAD = 0.07
/** When the server container gives a tag up, ms. */
const TAG_TIMEOUT_MS = 5_000
/** A tag that fails mostly got its answer, an exception comes at once: compared with the time of a success. */
const FAILURE_TIME = 1.4
const EXCEPTION_TIME = 0.05

type Execution = EventPayload['tags'][number]
type UserDataFlags = NonNullable<EventPayload['user_data']>
type EcommerceFlags = NonNullable<EventPayload['ecommerce']>

export interface Traffic {
  site: SiteProfile
  incidents: readonly Incident[]
  /** Every minute has a random source of its own: what happens in it does not depend on where the reading began. */
  seed: string
}

/** What happens on a site from `from` until before `to`, in order of time; without end when that is infinite. Epoch ms. */
export function* eventsOf(traffic: Traffic, from: number, to: number): Generator<EventPayload> {
  const rhythm = rhythmOf(traffic.site)
  const prepared = preparedSite(traffic.site)
  for (let minute = floorTo(from, MINUTE); minute < to; minute += MINUTE) {
    for (const event of eventsOfMinute(traffic, prepared, rhythm, minute)) {
      if (event.timestamp_ms >= from && event.timestamp_ms < to) yield event
    }
  }
}

/** What a site's events have in common: made once, as a history has three quarters of a million of them. */
interface PreparedSite {
  site: SiteProfile
  container: NonNullable<EventPayload['container']>
  events: readonly PreparedEvent[]
  weights: readonly number[]
}

interface PreparedTag {
  tag: TagProfile
  successes: readonly Execution[]
}

interface PreparedEvent {
  profile: EventProfile
  tags: readonly PreparedTag[]
}

/** Executions of a tag that succeed, of which one is drawn: a history has five million. */
const SUCCESSES = 4_096

function preparedSite(site: SiteProfile): PreparedSite {
  const prepared = site.tags.map((tag): PreparedTag => {
    const random = seededRandom(`${site.serverContainerId}/tag/${tag.id}`)
    return { tag, successes: Array.from({ length: SUCCESSES }, () => execution(tag, 'success', random)) }
  })
  const events = site.events.map((profile) => ({
    profile,
    tags: prepared.filter(({ tag }) => tag.on === 'every event' || tag.on.includes(profile.name)),
  }))
  const container = { version: String(site.serverVersion), environment: 'Live' }
  return { site, container, events, weights: site.events.map(({ weight }) => weight) }
}

function eventsOfMinute(
  { site, incidents, seed }: Traffic,
  prepared: PreparedSite,
  rhythm: Rhythm,
  minute: number,
): EventPayload[] {
  const hourSeed = `${seed}/${site.serverContainerId}/hour/${floorTo(minute, HOUR)}`
  const expected = rhythm(minute) * logNormal(seededRandom(hourSeed), 1, HOUR_SPREAD)
  const random = seededRandom(`${seed}/${site.serverContainerId}/${minute}`)
  const chances = { random, ofSignals: seededRandom(`${seed}/${site.serverContainerId}/signals/${minute}`) }
  const times = new Float64Array(poisson(random, expected))
  for (let index = 0; index < times.length; index++) times[index] = minute + Math.floor(random() * MINUTE)
  const around = incidents.filter(
    ({ site: where, from, to }) => where === site && from < minute + MINUTE && minute < to,
  )
  const happened: EventPayload[] = []
  for (const time of times.sort()) {
    const event = prepared.events[weighted(random, prepared.weights)]
    const wrong = around.length === 0 ? around : around.filter(({ from, to }) => from <= time && time < to)
    const isLost = wrong.some(({ kind }) => kind === 'nothing arrives')
    if (event === undefined || isLost) continue
    const one = eventAt(time, prepared, event, wrong, chances)
    happened.push(one)
    if (comesTwice(event.profile, wrong)) happened.push(asSecond(one))
  }
  return happened
}

/** What an event says beside its outcomes has a source of its own: it hardly changes what else happens. */
interface Chances {
  random: Random
  ofSignals: Random
}

function eventAt(
  time: number,
  { site, container }: PreparedSite,
  { profile, tags }: PreparedEvent,
  wrong: readonly Incident[],
  { random, ofSignals }: Chances,
): EventPayload {
  const { userData, ecommerce, own } = profile
  const consent = consentOf(site.consent, wrong, ofSignals)
  const runs: Execution[] = []
  for (const tag of tags) {
    if (!mayRun(tag.tag, consent) || !fires(tag.tag, wrong)) continue
    runs.push(answered(tag.tag, executionOf(tag, profile.name, wrong, random), wrong, ofSignals))
  }
  const event: EventPayload = {
    container_id: site.serverContainerId,
    container,
    event_name: profile.name,
    timestamp_ms: time,
    tags: runs,
    identifiers: identifierFlags(ofSignals),
  }
  if (consent !== undefined) event.consent = consent
  if (userData !== undefined && random() < userData.sent) event.user_data = userDataFlags(userData, random)
  if (ecommerce !== undefined) {
    event.ecommerce = ecommerceFlags(ecommerce, wrong, random)
    addValidity(event.ecommerce, profile, ofSignals)
  }
  // By chance of its own: what else happens is the same with and without them.
  if (own !== undefined) event.fields = ownFlags(own, wrong, seededRandom(`${site.serverContainerId}/own/${time}`))
  return event
}

function answered(tag: TagProfile, run: Execution, wrong: readonly Incident[], random: Random): Execution {
  const response = responseOf(tag, run, wrong, random)
  return response === undefined ? run : { ...run, response }
}

const fires = (tag: TagProfile, wrong: readonly Incident[]): boolean =>
  wrong.length === 0 || !wrong.some((incident) => incident.kind === 'tag does not fire' && incident.tag === tag.name)

function executionOf(
  { tag, successes }: PreparedTag,
  event: string,
  wrong: readonly Incident[],
  random: Random,
): Execution {
  const status = isBroken(tag, event, wrong, random) ? 'failure' : everydayOutcome(tag, random)
  const drawn = status === 'success' ? successes[Math.floor(random() * SUCCESSES)] : undefined
  return drawn ?? execution(tag, status, random)
}

function isBroken(tag: TagProfile, event: string, wrong: readonly Incident[], random: Random): boolean {
  for (const incident of wrong) {
    if (incident.kind !== 'tag fails' || incident.tag !== tag.name) continue
    if ((incident.on === 'every event' || incident.on === event) && random() < incident.share) return true
  }
  return false
}

function execution(tag: TagProfile, status: Execution['status'], random: Random): Execution {
  const ms = status === 'timeout' ? TAG_TIMEOUT_MS : logNormal(random, tag.medianMs, tag.spread) * TIME_OF[status]
  const named = tag.name === undefined ? {} : { name: tag.name }
  return { id: tag.id, ...named, status, execution_time: Math.round(ms) }
}

const TIME_OF = { success: 1, failure: FAILURE_TIME, exception: EXCEPTION_TIME } as const

function everydayOutcome({ failure, timeout, exception }: TagProfile, random: Random): Execution['status'] {
  const draw = random()
  if (draw < failure) return 'failure'
  if (draw < failure + timeout) return 'timeout'
  if (draw < failure + timeout + exception) return 'exception'
  return 'success'
}

function userDataFlags({ email, phone, name, place }: UserDataRates, random: Random): UserDataFlags {
  // Names and places are filled in together or not at all.
  const hasName = random() < name
  const hasPlace = random() < place
  return {
    has_email: random() < email,
    has_phone: random() < phone,
    has_first_name: hasName,
    has_last_name: hasName,
    has_city: hasPlace,
    has_country: hasPlace,
  }
}

function ecommerceFlags(
  { value, currency, items, transactionId }: EcommerceRates,
  wrong: readonly Incident[],
  random: Random,
): EcommerceFlags {
  const isLost = wrong.some((incident) => incident.kind === 'transaction ids are lost')
  return {
    has_value: random() < value,
    has_currency: random() < currency,
    has_items: random() < items,
    has_transaction_id: transactionId !== undefined && random() < transactionId && !isLost,
  }
}

/** The release that loses the transaction ids loses what the shop reads from the same place. */
function ownFlags(
  rates: Readonly<Record<string, number>>,
  wrong: readonly Incident[],
  random: Random,
): Record<string, boolean> {
  const lost = wrong.some(({ kind }) => kind === 'transaction ids are lost') ? 'delivery_slot' : null
  return Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, random() < rate && name !== lost]))
}

/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const WEEKDAY_OF_EPOCH = 3

/** Events per minute that a site expects at a time (epoch ms): its mean, bent by the local hour and weekday. */
type Rhythm = (time: number) => number

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
