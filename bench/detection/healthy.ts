import { type EventProfile, type Field, HOURS, type SiteProfile, type TagProfile, WEEKDAYS } from './profile.ts'

/** Five kinds of sites on which nothing is wrong, as the monitoring tag sends them: flags with every event, most of them without user data. */
export const KINDS = ['shop', 'lead', 'content', 'app', 'booking'] as const
export type Kind = (typeof KINDS)[number]

const event = (name: string, share: number, burst: number, more: Partial<EventProfile> = {}): EventProfile => ({
  name,
  share,
  burst,
  hasUserData: false,
  hasEcommerce: false,
  ...more,
})
const SALE = { hasUserData: true, hasEcommerce: true }

interface World {
  rhythm: keyof typeof HOURS
  timezone: string
  daily: number
  pagesAVisit: number
  conversion: string
  events: readonly EventProfile[]
}

const WORLDS: Readonly<Record<Kind, World>> = {
  shop: {
    rhythm: 'shop',
    timezone: 'Europe/Berlin',
    daily: 8_000,
    pagesAVisit: 6,
    conversion: 'purchase',
    events: [
      event('page_view', 1, 3, { signedIn: 0.12 }),
      event('view_item', 0.35, 3, { signedIn: 0.12, hasEcommerce: true }),
      event('add_to_cart', 0.05, 1.5, { signedIn: 0.2, hasEcommerce: true }),
      event('begin_checkout', 0.025, 1.2, SALE),
      event('purchase', 0.012, 1, SALE),
    ],
  },
  lead: {
    rhythm: 'office',
    timezone: 'America/New_York',
    daily: 1_500,
    pagesAVisit: 4,
    conversion: 'generate_lead',
    events: [
      event('page_view', 1, 2.5),
      event('scroll', 0.5, 2.5),
      event('form_start', 0.04, 1.2),
      event('generate_lead', 0.015, 1, { hasUserData: true }),
    ],
  },
  content: {
    rhythm: 'flat',
    timezone: 'UTC',
    daily: 60_000,
    pagesAVisit: 3,
    conversion: 'sign_up',
    events: [
      event('page_view', 1, 2),
      event('scroll', 0.6, 2),
      event('video_start', 0.1, 1.5),
      event('sign_up', 0.002, 1, { hasUserData: true }),
    ],
  },
  app: {
    rhythm: 'night',
    timezone: 'Asia/Kolkata',
    daily: 20_000,
    pagesAVisit: 12,
    conversion: 'in_app_purchase',
    events: [
      event('screen_view', 1, 4, { signedIn: 0.45 }),
      event('session_start', 0.1, 1.2, { signedIn: 0.45 }),
      event('login', 0.02, 1, { hasUserData: true }),
      event('in_app_purchase', 0.004, 1, SALE),
    ],
  },
  booking: {
    rhythm: 'shop',
    timezone: 'Australia/Sydney',
    daily: 3_000,
    pagesAVisit: 5,
    conversion: 'purchase',
    events: [
      event('page_view', 1, 3, { signedIn: 0.2 }),
      event('search', 0.3, 2, { signedIn: 0.2 }),
      event('view_item', 0.2, 2, { signedIn: 0.2, hasEcommerce: true }),
      event('begin_checkout', 0.02, 1.2, SALE),
      event('purchase', 0.008, 1, SALE),
    ],
  },
}

const FIELDS: Readonly<Record<Field, number>> = {
  email: 0.9,
  phone: 0.5,
  address: 0.6,
  value: 0.99,
  currency: 1,
  transaction_id: 1,
  items: 0.99,
}

/** @param batch events collected into one batch; 1 when sent one by one */
export function healthySite(kind: Kind, batch: number): SiteProfile {
  const { rhythm, events, conversion, ...world } = WORLDS[kind]
  return {
    ...world,
    name: `${kind}, ${batch === 1 ? 'event by event' : `batches of ${batch}`}`,
    events,
    tags: tagsOf(events, conversion),
    hours: HOURS[rhythm],
    weekdays: WEEKDAYS[rhythm],
    trend: 1.01,
    dayNoise: 0.06,
    hourNoise: 0.05,
    holidays: new Map(),
    sales: new Map(),
    bornOn: 0,
    batch,
    fields: FIELDS,
  }
}

function tagsOf(events: readonly EventProfile[], conversion: string): TagProfile[] {
  const all = events.map(({ name }) => name)
  const tag = (key: string, on: readonly string[], coverage: number, failure: number): TagProfile => ({
    key,
    events: on,
    coverage,
    failure,
    medianMs: 120,
    spread: 0.5,
  })
  return [
    tag('GA4', all, 0.995, 0.002),
    tag('Ads conversion', [conversion], 0.98, 0.005),
    tag('Meta', [all[0] ?? conversion, conversion], 0.65, 0.01),
    tag('Warehouse', all, 1, 0.001),
  ]
}
