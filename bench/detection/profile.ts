import type { Random } from './random.ts'
import { DAYS, PAST_DAYS } from './world.ts'

export interface EventProfile {
  name: string
  /** Events of this name for one page view. */
  share: number
  burst: number
  /** Events of this name that a visit which has any brings, where visits are simulated. */
  visitSize?: number
  hasUserData: boolean
  hasEcommerce: boolean
  /** How often an event that is no conversion carries user data: of visitors who are signed in. 0 without it. */
  signedIn?: number
}

export interface TagProfile {
  key: string
  events: readonly string[]
  /** Share of the occurrences it runs on: nearly all, or those with consent. */
  coverage: number
  failure: number
  /** Median execution time, ms, and the standard deviation of its logarithm. */
  medianMs: number
  spread: number
}

export interface SiteProfile {
  name: string
  timezone: string
  /** Page views a day. */
  daily: number
  events: readonly EventProfile[]
  tags: readonly TagProfile[]
  hours: readonly number[]
  weekdays: readonly number[]
  /** Growth a week as a factor. */
  trend: number
  /** Standard deviations of the level's logarithm, from day to day and within hours. */
  dayNoise: number
  hourNoise: number
  /** How much of the day's level stays until the next; 0 without it. */
  dayMemory?: number
  /** Variance of the counts of all events over their mean, where all events of a visit come together. */
  visitBurst?: number
  /** Level of the day on holidays, by day. */
  holidays: ReadonlyMap<number, number>
  sales: ReadonlyMap<number, number>
  /** Pages that a visitor sees in a row: who is signed in is so on all of them. 1 without it. */
  pagesAVisit?: number
  /** Days before the site was set up. */
  bornOn: number
  /** Events collected into one batch; 1 when sent one by one. */
  batch: number
  /** How often each field is present. */
  fields: Readonly<Record<Field, number>>
}

export const USER_DATA = ['email', 'phone', 'address'] as const
export const ECOMMERCE = ['value', 'currency', 'transaction_id', 'items'] as const
export type Field = (typeof USER_DATA)[number] | (typeof ECOMMERCE)[number]

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC', 'Australia/Sydney'] as const

/** Local hour by hour. */
export const HOURS = {
  shop: [3, 2, 1, 1, 1, 2, 5, 9, 12, 14, 15, 16, 17, 16, 15, 15, 16, 18, 21, 24, 25, 21, 14, 7],
  office: [1, 0.5, 0.5, 0.5, 0.5, 1, 4, 12, 24, 30, 31, 29, 22, 26, 29, 28, 24, 15, 7, 5, 4, 3, 2, 1],
  night: [2, 0.3, 0, 0, 0, 0.2, 3, 9, 14, 17, 18, 18, 17, 17, 17, 17, 18, 19, 20, 20, 18, 14, 9, 5],
  flat: [8, 7, 6, 6, 6, 7, 8, 9, 10, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 11, 10, 9],
} as const
export const WEEKDAYS = {
  shop: [1, 0.95, 0.95, 1, 1.05, 1.15, 1.25],
  office: [1.1, 1.15, 1.15, 1.1, 0.95, 0.2, 0.2],
  night: [1, 1, 1, 1, 1, 0.9, 0.9],
  flat: [1, 1, 1, 1, 1, 1, 1],
} as const
type Rhythm = keyof typeof HOURS

const event = (name: string, share: number, burst: number, ...has: ('user_data' | 'ecommerce')[]): EventProfile => ({
  name,
  share,
  burst,
  hasUserData: has.includes('user_data'),
  hasEcommerce: has.includes('ecommerce'),
})

export function randomSite(random: Random, index: number): SiteProfile {
  const rhythm = random.pick<Rhythm>(['shop', 'shop', 'office', 'night', 'flat'])
  const isShop = rhythm === 'shop' || rhythm === 'night'
  const burst = random.between(1, 4)
  const events = [
    event('page_view', 1, burst),
    event('scroll', random.between(0.3, 0.7), burst),
    ...(isShop
      ? [
          event('view_item', random.between(0.2, 0.4), burst, 'ecommerce'),
          event('add_to_cart', random.between(0.03, 0.08), 1.5, 'ecommerce'),
          event('begin_checkout', random.between(0.015, 0.03), 1.2, 'ecommerce', 'user_data'),
          event('purchase', random.between(0.006, 0.015), 1, 'ecommerce', 'user_data'),
        ]
      : [
          event('form_start', random.between(0.02, 0.06), 1.2),
          event('generate_lead', random.between(0.005, 0.02), 1, 'user_data'),
        ]),
  ]
  const conversion = isShop ? 'purchase' : 'generate_lead'
  const holidayLevel = rhythm === 'office' ? random.between(0.15, 0.3) : random.between(0.4, 0.9)
  const batch = random.chance(0.1) ? random.pick([50, 200]) : 1
  return {
    name: `site ${index + 1}`,
    timezone: random.pick(ZONES),
    daily: random.logBetween(150, 200_000),
    events,
    tags: tagsOf(random, events, conversion),
    hours: HOURS[rhythm],
    weekdays: WEEKDAYS[rhythm],
    trend: random.between(0.96, 1.05),
    dayNoise: random.between(0.04, 0.12),
    hourNoise: random.between(0.03, 0.1),
    holidays: new Map(
      [Math.floor(random.between(7, 34)), Math.floor(random.between(PAST_DAYS, DAYS - 1))].map((d) => [
        d,
        holidayLevel,
      ]),
    ),
    sales: new Map(
      [Math.floor(random.between(7, 34)), Math.floor(random.between(PAST_DAYS, DAYS - 1))].map((d) => [
        d,
        random.between(1.5, 4),
      ]),
    ),
    bornOn: random.chance(0.1) ? Math.floor(random.between(PAST_DAYS - 10, PAST_DAYS + 3)) : 0,
    batch,
    fields: {
      email: random.between(0.75, 0.99),
      phone: random.between(0.35, 0.9),
      address: random.between(0.55, 0.95),
      value: random.between(0.97, 1),
      currency: 1,
      transaction_id: 1,
      items: random.between(0.98, 1),
    },
  }
}

function tagsOf(random: Random, events: readonly EventProfile[], conversion: string): TagProfile[] {
  const all = events.map(({ name }) => name)
  const tag = (key: string, on: readonly string[], coverage: number): TagProfile => ({
    key,
    events: on,
    coverage,
    failure: random.logBetween(0.0003, 0.015),
    medianMs: random.logBetween(30, 500),
    spread: random.between(0.3, 0.7),
  })
  return [
    tag('GA4', all, random.between(0.99, 1)),
    tag('Ads conversion', [conversion], random.between(0.97, 1)),
    tag('Meta', ['page_view', conversion], random.between(0.5, 0.8)),
    tag('Warehouse', all, 1),
    tag('Affiliate', [conversion], 1),
  ]
}
