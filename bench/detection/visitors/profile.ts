import { type Field, HOURS, type SiteProfile } from '../profile.ts'
import type { Random } from '../random.ts'
import { DAYS } from '../world.ts'

/** A page that a visitor sees, or something that follows from one. Probabilities are those of one visit. */
export interface Journey {
  /** Mean number of pages of a visit; lengths are geometric, a tenth of the visits five times as long. */
  readonly pages: number
  /** Median seconds between two pages; log-normal with a spread of 1. */
  readonly pause: number
  /** Chance that a page view brings the event along. */
  readonly withPage: ReadonlyMap<string, number>
  /** The way to the conversion: each step's event and the chance of a visit at the step before to take it. */
  readonly funnel: readonly { readonly event: string; readonly chance: number }[]
}

/** A site whose events are made by visitors who come, look at pages and leave. */
export interface VisitorSite extends SiteProfile {
  readonly journey: Journey
  /** Visits a day. */
  readonly visits: number
  /** Local level of each quarter of an hour of each weekday, mean 1 over the week. */
  readonly week: Float64Array
  readonly dayMemory: number
  /** Shape of the gamma distribution that arrivals of about ten minutes are mixed with: 1/shape is its variance. */
  readonly gammaShape: number
  readonly country: Country
}

/** Public holidays of the simulated weeks (days since 23 February 2026) by country, from the countries' own lists. */
export const HOLIDAYS = {
  DE: [39, 42],
  GB: [39, 42],
  US: [],
  IN: [9, 26, 39, 50],
  AU: [39, 42],
  ES: [38, 39],
  BR: [39],
  JP: [25],
} as const satisfies Record<string, readonly number[]>
export type Country = keyof typeof HOLIDAYS

const ZONES: Readonly<Record<Country, string>> = {
  DE: 'Europe/Berlin',
  GB: 'Europe/London',
  US: 'America/Chicago',
  IN: 'Asia/Kolkata',
  AU: 'Australia/Sydney',
  ES: 'Europe/Madrid',
  BR: 'America/Sao_Paulo',
  JP: 'Asia/Tokyo',
}

const QUARTERS = 96

/** Four kinds of business. The names and rates are those of common public reports, rounded. */
type Business = 'shop' | 'lead' | 'content' | 'app'

export function visitorSite(random: Random, index: number): VisitorSite {
  const business = random.pick<Business>(['shop', 'shop', 'lead', 'content', 'app'])
  const journey = journeyOf(business, random)
  const perVisit = eventsPerVisit(journey)
  const total = [...perVisit.values()].reduce((a, b) => a + b, 0)
  const daily = random.logBetween(5, 200_000)
  const pages = perVisit.get(pageEvent(business)) ?? 1
  const conversion = journey.funnel.at(-1)?.event ?? ''
  const country = random.pick<Country>(['DE', 'DE', 'GB', 'US', 'US', 'IN', 'AU', 'ES', 'BR', 'JP'])
  const events = Array.from(perVisit, ([name, count]) => {
    const isFunnel = journey.funnel.some(({ event }) => event === name)
    return {
      name,
      share: count / pages,
      burst: isFunnel ? 1 : clusterSize(journey, name),
      visitSize: isFunnel ? 1 : count / anyInVisit(journey, name),
      hasUserData: name === conversion,
      hasEcommerce: business === 'shop' && (isFunnel || name === 'view_item'),
      signedIn: isFunnel ? 0 : 0.12,
    }
  })
  return {
    name: `visitor site ${index + 1}, ${business}`,
    timezone: ZONES[country],
    country,
    daily: (daily / total) * pages,
    visits: daily / total,
    journey,
    events,
    tags: tagsOf(random, [...perVisit.keys()], pageEvent(business), conversion),
    week: weekOf(business, random),
    hours: HOURS.flat,
    weekdays: [1],
    trend: random.between(0.97, 1.04),
    dayNoise: random.between(0.05, 0.18),
    dayMemory: random.between(0.2, 0.7),
    hourNoise: random.between(0.03, 0.1),
    gammaShape: 1 / random.logBetween(0.003, 0.06),
    holidays: new Map(),
    sales: new Map(),
    pagesAVisit: journey.pages,
    visitBurst: visitBurst(journey),
    bornOn: random.chance(0.08) ? Math.floor(random.between(DAYS - 33, DAYS - 20)) : 0,
    batch: random.chance(0.1) ? random.pick([20, 50, 200]) : 1,
    fields: fieldsOf(random),
  }
}

const pageEvent = (business: Business): string => (business === 'app' ? 'screen_view' : 'page_view')

function journeyOf(business: Business, random: Random): Journey {
  const pause = random.logBetween(15, 90)
  const pages = random.between(1.5, 7)
  switch (business) {
    case 'shop':
      return {
        pages,
        pause,
        withPage: new Map([
          ['page_view', 1],
          ['scroll', random.between(0.25, 0.6)],
          ['view_item', random.between(0.2, 0.5)],
        ]),
        funnel: [
          { event: 'add_to_cart', chance: random.between(0.05, 0.15) },
          { event: 'begin_checkout', chance: random.between(0.3, 0.6) },
          { event: 'add_payment_info', chance: random.between(0.6, 0.9) },
          { event: 'purchase', chance: random.between(0.5, 0.9) },
        ],
      }
    case 'lead':
      return {
        pages,
        pause,
        withPage: new Map([
          ['page_view', 1],
          ['scroll', random.between(0.3, 0.7)],
        ]),
        funnel: [
          { event: 'form_start', chance: random.between(0.04, 0.12) },
          { event: 'generate_lead', chance: random.between(0.2, 0.5) },
        ],
      }
    case 'content':
      return {
        pages: random.between(1.2, 3),
        pause,
        withPage: new Map([
          ['page_view', 1],
          ['scroll', random.between(0.4, 0.8)],
          ['video_start', random.between(0.02, 0.2)],
        ]),
        funnel: [{ event: 'sign_up', chance: random.between(0.003, 0.02) }],
      }
    case 'app':
      return {
        pages: random.between(4, 14),
        pause: random.logBetween(8, 30),
        withPage: new Map([
          ['screen_view', 1],
          ['user_engagement', random.between(0.3, 0.8)],
        ]),
        funnel: [
          { event: 'session_start', chance: 1 },
          { event: 'login', chance: random.between(0.05, 0.2) },
          { event: 'in_app_purchase', chance: random.between(0.05, 0.2) },
        ],
      }
  }
}

/** A tenth of the visits are five times as long: the mean of both together. */
export const LONG_VISITS = 0.1
export const LONG_FACTOR = 5

function eventsPerVisit({ pages, withPage, funnel }: Journey): Map<string, number> {
  const all = pages * (1 + LONG_VISITS * (LONG_FACTOR - 1))
  const counts = new Map(Array.from(withPage, ([name, chance]) => [name, chance * all] as const))
  let reach = 1
  for (const { event, chance } of funnel) {
    reach *= chance
    counts.set(event, reach)
  }
  return counts
}

/** Variance of counts next to that of single events, E[n²]/E[n], for geometric visits of which some are longer, of whose pages `chance` count. */
const clusterSize = (journey: Journey, name: string): number =>
  1 + (journey.withPage.get(name) ?? 0) * (pageClusters(journey) - 1)

/** E[n²]/E[n] of the pages of a visit. */
function pageClusters({ pages }: Journey): number {
  const squares = (factor: number) => 2 * (pages * factor) ** 2 - pages * factor
  const all = (1 - LONG_VISITS) * squares(1) + LONG_VISITS * squares(LONG_FACTOR)
  return all / (pages * (1 + LONG_VISITS * (LONG_FACTOR - 1)))
}

/** The same of all events that pages bring along: all those of a page come with it, and all pages with the visit. */
function visitBurst(journey: Journey): number {
  const chances = [...journey.withPage.values()]
  const perPage = chances.reduce((a, b) => a + b, 0)
  const pairs = perPage ** 2 - chances.reduce((sum, chance) => sum + chance ** 2, 0)
  return 1 + perPage * (pageClusters(journey) - 1) + pairs / perPage
}

/** Chance that a visit brings the event at all. */
function anyInVisit({ pages, withPage }: Journey, name: string): number {
  const chance = withPage.get(name) ?? 0
  const none = (mean: number) => ((1 / mean) * (1 - chance)) / (1 - (1 - 1 / mean) * (1 - chance))
  return 1 - (1 - LONG_VISITS) * none(pages) - LONG_VISITS * none(pages * LONG_FACTOR)
}

/** Humps of a day by weekday. Each weekday has hours of its own, off by up to 15 % or so from the others'. */
function weekOf(business: Business, random: Random): Float64Array {
  const peaks =
    business === 'lead'
      ? [
          { at: random.between(9.5, 11), width: 2, height: 1 },
          { at: random.between(13.5, 15.5), width: 2.2, height: 0.9 },
        ]
      : [
          { at: random.between(10, 14), width: random.between(2.5, 4), height: 1 },
          { at: random.between(19, 21.5), width: random.between(1.5, 2.5), height: random.between(0.6, 1.6) },
        ]
  const floor = random.logBetween(0.01, 0.25)
  const weekend = business === 'lead' ? random.between(0.1, 0.35) : random.between(0.75, 1.35)
  const week = new Float64Array(7 * QUARTERS)
  for (let day = 0; day < 7; day++) {
    const level = (day >= 5 ? weekend : 1) * random.between(0.9, 1.1)
    const wobble = [1, 2, 3].map((waves) => ({
      waves,
      size: 0.1 * random.normal(),
      phase: random.between(0, 2 * Math.PI),
    }))
    for (let quarter = 0; quarter < QUARTERS; quarter++) {
      const hour = quarter / 4
      const hump = peaks.reduce((sum, { at, width, height }) => {
        const away = Math.min(Math.abs(hour - at), 24 - Math.abs(hour - at))
        return sum + height * Math.exp(-0.5 * (away / width) ** 2)
      }, floor)
      const own = wobble.reduce(
        (sum, { waves, size, phase }) => sum + size * Math.sin((2 * Math.PI * waves * hour) / 24 + phase),
        0,
      )
      week[day * QUARTERS + quarter] = level * hump * Math.exp(own)
    }
  }
  const mean = week.reduce((a, b) => a + b, 0) / week.length
  return week.map((value) => value / mean)
}

function tagsOf(random: Random, all: readonly string[], page: string, conversion: string): SiteProfile['tags'] {
  const tag = (key: string, events: readonly string[], coverage: number) => ({
    key,
    events,
    coverage,
    failure: random.logBetween(0.0002, 0.02),
    medianMs: random.logBetween(25, 600),
    spread: random.between(0.3, 0.8),
  })
  return [
    tag('GA4', [...all, RENAMED], random.between(0.985, 1)),
    tag('Ads conversion', [conversion], random.between(0.96, 1)),
    tag('Meta', [page, conversion], random.between(0.4, 0.85)),
    tag('Warehouse', [...all, RENAMED], 1),
    tag('Affiliate', [conversion], 1),
  ]
}

/** What `scroll` or its like is called after a deploy that renames it. */
export const RENAMED = 'scroll_depth'

const fieldsOf = (random: Random): Readonly<Record<Field, number>> => ({
  email: random.between(0.7, 0.99),
  phone: random.between(0.3, 0.9),
  address: random.between(0.5, 0.95),
  value: random.between(0.96, 1),
  currency: 1,
  transaction_id: random.between(0.99, 1),
  items: random.between(0.97, 1),
})
