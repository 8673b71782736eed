import type { EventPayload } from '../../journal/index.ts'
import { floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { Incident } from './incidents.ts'
import {
  type EcommerceRates,
  type EventProfile,
  type Rhythm,
  rhythmOf,
  type SiteProfile,
  type TagProfile,
  type UserDataRates,
} from './profile.ts'
import { logNormal, poisson, type Random, seededRandom, weighted } from './random.ts'
import { addValidity, asSecond, comesTwice, consentOf, identifierFlags, mayRun, responseOf } from './signals.ts'

/** Spread (of the logarithm) of an hour's traffic around the rhythm. */
const HOUR_SPREAD = 0.07
/** Time after which the server container aborts a tag, ms. */
const TAG_TIMEOUT_MS = 5_000
/** Duration as a multiple of a success's: a failed tag usually waited for its answer, while an exception comes at once. */
const FAILURE_TIME = 1.4
const EXCEPTION_TIME = 0.05

type Execution = EventPayload['tags'][number]
type UserDataFlags = NonNullable<EventPayload['user_data']>
type EcommerceFlags = NonNullable<EventPayload['ecommerce']>

export interface Traffic {
  site: SiteProfile
  incidents: readonly Incident[]
  /** Seeds each minute separately, so that its events do not depend on where reading began. */
  seed: string
}

/** An event of a site at a time, epoch ms. */
export interface Occurrence {
  time: number
  /** A small number, the same for all events that differ only in time. */
  id: number
  repertoire: Repertoire
}

/** Yields a site's events from `from` until before `to`, in order of time; endless when `to` is infinite. Epoch ms. */
export function* occurrencesOf(traffic: Traffic, from: number, to: number): Generator<Occurrence> {
  const minutes = new Minutes(traffic)
  for (let minute = floorTo(from, MINUTE); minute < to; minute += MINUTE) {
    for (const occurrence of minutes.at(minute)) if (occurrence.time >= from && occurrence.time < to) yield occurrence
  }
}

/** The payloads of `occurrencesOf`. */
export function* eventsOf(traffic: Traffic, from: number, to: number): Generator<EventPayload> {
  for (const { time, id, repertoire } of occurrencesOf(traffic, from, to)) {
    yield { ...repertoire.said(id), timestamp_ms: time }
  }
}

/**
 * Number of different payloads per event name, site and set of incidents; each event draws one of them. A history has 750,000 events,
 * and making and counting each payload separately took too long.
 */
const VARIETY = 512

interface PreparedEvent {
  profile: EventProfile
  tags: readonly TagProfile[]
  everyday: Repertoire
  /** Repertoires during incidents, by the indexes of the incidents. */
  wrong: Map<string, Repertoire>
}

/** The payloads of one event name, with ids from `first` on. Each is made on first use and depends only on its place. */
class Repertoire {
  readonly first: number
  /** Whether each event is followed by a second one, marked as a duplicate. */
  readonly isRepeated: boolean
  readonly #make: (place: number) => EventPayload
  readonly #said: (EventPayload | undefined)[] = []

  constructor(first: number, make: (place: number) => EventPayload, isRepeated: boolean) {
    this.first = first
    this.isRepeated = isRepeated
    this.#make = make
  }

  said(id: number): EventPayload {
    const at = id - this.first
    const said = this.#said[at] ?? (at < VARIETY ? this.#make(at) : asSecond(this.said(id - VARIETY)))
    this.#said[at] = said
    return said
  }
}

/** The events of a site, minute by minute. */
class Minutes {
  readonly #traffic: Traffic
  readonly #rhythm: Rhythm
  readonly #events: readonly PreparedEvent[]
  readonly #weights: readonly number[]
  /** Traffic of the current hour relative to the rhythm. */
  #hour = { start: Number.NaN, factor: 1 }
  /** Ids assigned so far. */
  #ids = 0

  constructor(traffic: Traffic) {
    const { site } = traffic
    this.#traffic = traffic
    this.#rhythm = rhythmOf(site)
    this.#events = site.events.map((profile) => {
      const tags = site.tags.filter(({ on }) => on === 'every event' || on.includes(profile.name))
      return { profile, tags, everyday: this.#newRepertoire(profile, tags, []), wrong: new Map<string, Repertoire>() }
    })
    this.#weights = site.events.map(({ weight }) => weight)
  }

  at(minute: number): Occurrence[] {
    const { site, incidents, seed } = this.#traffic
    const random = seededRandom(`${seed}/${site.serverContainerId}/${minute}`)
    const times = new Float64Array(poisson(random, this.#rhythm(minute) * this.#factorAt(minute)))
    for (let index = 0; index < times.length; index++) times[index] = minute + Math.floor(random() * MINUTE)
    const around = incidents.filter(
      ({ site: where, from, to }) => where === site && from < minute + MINUTE && minute < to,
    )
    const happened: Occurrence[] = []
    for (const time of times.sort()) {
      const event = this.#events[weighted(random, this.#weights)]
      const place = Math.floor(random() * VARIETY)
      const wrong = around.length === 0 ? around : around.filter(({ from, to }) => from <= time && time < to)
      if (event === undefined || wrong.some(({ kind }) => kind === 'nothing arrives')) continue
      const repertoire = this.#repertoire(event, wrong)
      const id = repertoire.first + place
      happened.push({ time, id, repertoire })
      if (repertoire.isRepeated) happened.push({ time, id: id + VARIETY, repertoire })
    }
    return happened
  }

  #factorAt(minute: number): number {
    const { site, seed } = this.#traffic
    const start = floorTo(minute, HOUR)
    if (this.#hour.start !== start) {
      const random = seededRandom(`${seed}/${site.serverContainerId}/hour/${start}`)
      this.#hour = { start, factor: logNormal(random, 1, HOUR_SPREAD) }
    }
    return this.#hour.factor
  }

  #repertoire(event: PreparedEvent, wrong: readonly Incident[]): Repertoire {
    if (wrong.length === 0) return event.everyday
    const { incidents } = this.#traffic
    const key = wrong.map((incident) => incidents.indexOf(incident)).join()
    const known = event.wrong.get(key) ?? this.#newRepertoire(event.profile, event.tags, wrong)
    event.wrong.set(key, known)
    return known
  }

  #newRepertoire(profile: EventProfile, tags: readonly TagProfile[], wrong: readonly Incident[]): Repertoire {
    const { site } = this.#traffic
    const make = (place: number): EventPayload => {
      const seed = `${site.serverContainerId}/${profile.name}/${place}`
      const chances = { random: seededRandom(seed), ofSignals: seededRandom(`${seed}/signals`) }
      return eventOf(site, profile, tags, wrong, chances)
    }
    const first = this.#ids
    this.#ids += 2 * VARIETY
    return new Repertoire(first, make, comesTwice(profile, wrong))
  }
}

/** Signals are drawn from their own source, so that they hardly change which outcomes are drawn. */
interface Chances {
  random: Random
  ofSignals: Random
}

function eventOf(
  site: SiteProfile,
  profile: EventProfile,
  tags: readonly TagProfile[],
  wrong: readonly Incident[],
  { random, ofSignals }: Chances,
): EventPayload {
  const { userData, ecommerce, own } = profile
  const consent = consentOf(site.consent, wrong, ofSignals)
  const event: EventPayload = {
    container_id: site.serverContainerId,
    container: { version: String(site.serverVersion), environment: 'Live' },
    event_name: profile.name,
    timestamp_ms: 0,
    tags: tags
      .filter((tag) => mayRun(tag, consent) && fires(tag, wrong))
      .map((tag) => answered(tag, executionOf(tag, profile.name, wrong, random), wrong, ofSignals)),
    identifiers: identifierFlags(ofSignals),
  }
  if (consent !== undefined) event.consent = consent
  if (userData !== undefined && random() < userData.sent) event.user_data = userDataFlags(userData, random)
  if (ecommerce !== undefined) {
    event.ecommerce = ecommerceFlags(ecommerce, wrong, random)
    addValidity(event.ecommerce, profile, ofSignals)
  }
  if (own !== undefined) event.fields = ownFlags(own, wrong, random)
  return event
}

function answered(tag: TagProfile, run: Execution, wrong: readonly Incident[], random: Random): Execution {
  const response = responseOf(tag, run, wrong, random)
  return response === undefined ? run : { ...run, response }
}

const fires = (tag: TagProfile, wrong: readonly Incident[]): boolean =>
  wrong.length === 0 || !wrong.some((incident) => incident.kind === 'tag does not fire' && incident.tag === tag.name)

function executionOf(tag: TagProfile, event: string, wrong: readonly Incident[], random: Random): Execution {
  const status = isBroken(tag, event, wrong, random) ? 'failure' : everydayOutcome(tag, random)
  return execution(tag, status, random)
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
  // First and last name are given together or not at all, as are city and country.
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

/** Draws the site's own parameters. The release that loses transaction ids also loses `delivery_slot`, read from the same place. */
function ownFlags(
  rates: Readonly<Record<string, number>>,
  wrong: readonly Incident[],
  random: Random,
): Record<string, boolean> {
  const lost = wrong.some(({ kind }) => kind === 'transaction ids are lost') ? 'delivery_slot' : null
  return Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, random() < rate && name !== lost]))
}
