import type { EventPayload } from '../../ingest/index.ts'
import { floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { Incident } from './incidents.ts'
import { logNormal, poisson, type Random, seededRandom, weighted } from './random.ts'
import { type Rhythm, rhythmOf } from './rhythm.ts'
import type { EcommerceRates, EventProfile, SiteProfile, TagProfile, UserDataRates } from './world/profile.ts'

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
  for (let minute = floorTo(from, MINUTE); minute < to; minute += MINUTE) {
    for (const event of eventsOfMinute(traffic, rhythm, minute)) {
      if (event.timestamp_ms >= from && event.timestamp_ms < to) yield event
    }
  }
}

function eventsOfMinute({ site, incidents, seed }: Traffic, rhythm: Rhythm, minute: number): EventPayload[] {
  const hourSeed = `${seed}/${site.serverContainerId}/hour/${floorTo(minute, HOUR)}`
  const expected = rhythm(minute) * logNormal(seededRandom(hourSeed), 1, HOUR_SPREAD)
  const random = seededRandom(`${seed}/${site.serverContainerId}/${minute}`)
  const times = Array.from({ length: poisson(random, expected) }, () => minute + Math.floor(random() * MINUTE))
  const weights = site.events.map((event) => event.weight)
  return times
    .sort((a, b) => a - b)
    .flatMap((time) => {
      const event = site.events[weighted(random, weights)]
      if (event === undefined) return []
      const wrong = incidents.filter(
        (incident) => incident.site === site && incident.from <= time && time < incident.to,
      )
      return [eventAt(time, site, event, wrong, random)]
    })
}

function eventAt(
  time: number,
  site: SiteProfile,
  event: EventProfile,
  wrong: readonly Incident[],
  random: Random,
): EventPayload {
  const { userData, ecommerce } = event
  return {
    container_id: site.serverContainerId,
    event_name: event.name,
    timestamp_ms: time,
    tags: site.tags
      .filter((tag) => firesOn(tag, event.name, wrong))
      .map((tag) => execution(tag, event.name, wrong, random)),
    ...(userData !== undefined && random() < userData.sent ? { user_data: userDataFlags(userData, random) } : {}),
    ...(ecommerce === undefined ? {} : { ecommerce: ecommerceFlags(ecommerce, wrong, random) }),
  }
}

const firesOn = (tag: TagProfile, event: string, wrong: readonly Incident[]): boolean =>
  (tag.on === 'every event' || tag.on.includes(event)) &&
  !wrong.some((incident) => incident.kind === 'tag does not fire' && incident.tag === tag.name)

function execution(tag: TagProfile, event: string, wrong: readonly Incident[], random: Random): Execution {
  const isBroken = wrong.some(
    (incident) =>
      incident.kind === 'tag fails' &&
      incident.tag === tag.name &&
      incident.event === event &&
      random() < incident.share,
  )
  const status = isBroken ? 'failure' : everydayOutcome(tag, random)
  const ms = logNormal(random, tag.medianMs, tag.spread)
  return {
    id: tag.id,
    ...(tag.name === undefined ? {} : { name: tag.name }),
    status,
    execution_time: status === 'timeout' ? TAG_TIMEOUT_MS : Math.round(ms * TIME_OF[status]),
  }
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
