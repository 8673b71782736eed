import type { ClientProfile, EcommerceRates, EventProfile, SiteProfile, UserDataRates } from './profile.ts'
import { TAGS } from './world-tags.ts'

const BROWSING: EcommerceRates = { value: 0.97, currency: 0.99, items: 0.99 }
const BUYING: EcommerceRates = { value: 0.995, currency: 0.998, items: 0.99, transactionId: 0.997 }

/** A shop's events. `userData` are the rates at the checkout; while browsing, few visitors are known. */
function shopEvents(userData: UserDataRates): readonly EventProfile[] {
  const known = (sent: number): UserDataRates => ({ ...userData, sent })
  return [
    { name: 'page_view', weight: 40, userData: known(0.15) },
    { name: 'view_item_list', weight: 9, ecommerce: { ...BROWSING, value: 0.4 } },
    { name: 'view_item', weight: 18, ecommerce: BROWSING },
    { name: 'add_to_cart', weight: 10, ecommerce: BROWSING, userData: known(0.25) },
    { name: 'begin_checkout', weight: 8, ecommerce: BROWSING, userData: known(0.7) },
    { name: 'purchase', weight: 10, ecommerce: BUYING, userData },
    { name: 'sign_up', weight: 3, userData },
    { name: 'search', weight: 2 },
  ]
}

const AGENCY: ClientProfile = {
  name: 'Nordlicht Digital',
  email: 'tracking@nordlicht-digital.example',
  plan: 'business',
}
const GROUP: ClientProfile = { name: 'Meridian Retail Group', email: 'data@meridian-retail.example', plan: 'business' }

/** An outdoor shop that sells all over Europe: busy, with traffic at all hours. */
export const OUTDOOR: SiteProfile = {
  client: AGENCY,
  name: 'Feldkamp Outdoor',
  url: 'https://www.feldkamp-outdoor.example',
  timezone: 'Europe/Berlin',
  serverContainerId: 'GTM-NFK7W2Q',
  webContainerId: 'GTM-5TFKR8L',
  webVersion: 42,
  serverVersion: 23,
  measurementId: 'G-FK7W2QX41M',
  cmp: 'usercentrics',
  consent: { signal: 0.985, choice: 0.88, ads: 0.76, analytics: 0.83, dma: true },
  orders: { average_order_value: 79, currency: 'EUR' },
  batchSize: null,
  eventsPerMinute: 32,
  hours: [62, 58, 56, 55, 56, 60, 70, 82, 92, 98, 101, 103, 106, 104, 102, 104, 108, 116, 128, 138, 142, 130, 104, 78],
  weekdays: [1.02, 0.98, 0.97, 0.98, 0.94, 0.99, 1.12],
  events: shopEvents({ sent: 0.96, email: 0.94, phone: 0.52, name: 0.88, place: 0.86 }),
  tags: [
    TAGS.ga4,
    TAGS.googleAdsConversion,
    TAGS.googleAdsRemarketing,
    TAGS.metaCapi,
    TAGS.metaCapiFunnel,
    TAGS.tiktok,
    TAGS.floodlight,
    TAGS.warehouse,
  ],
}

/** A furniture shop on the American east coast, busy in the evening and on weekends; its quiet nights still show failures in minutes. */
export const FURNITURE: SiteProfile = {
  client: AGENCY,
  name: 'Maple & Birch Furniture',
  url: 'https://www.mapleandbirch.example',
  timezone: 'America/New_York',
  serverContainerId: 'GTM-MB4H9TR',
  webContainerId: 'GTM-K2MBF6D',
  webVersion: 118,
  serverVersion: 61,
  measurementId: 'G-MB4H9TRZ20',
  cmp: 'onetrust',
  consent: { signal: 0.97, choice: 0.93, ads: 0.9, analytics: 0.94, dma: false },
  batchSize: null,
  eventsPerMinute: 10,
  hours: [34, 28, 26, 26, 26, 26, 30, 50, 72, 90, 104, 112, 122, 118, 110, 108, 112, 120, 138, 160, 172, 164, 118, 70],
  weekdays: [0.92, 0.9, 0.9, 0.93, 0.96, 1.18, 1.21],
  events: shopEvents({ sent: 0.9, email: 0.88, phone: 0.61, name: 0.8, place: 0.78 }).map((event) =>
    event.name === 'purchase' ? { ...event, own: { delivery_slot: 0.97, financing: 0.34 } } : event,
  ),
  tags: [TAGS.ga4, TAGS.googleAdsConversion, TAGS.metaCapiShop, TAGS.pinterest, TAGS.newsletter],
}

/** A fashion shop in India, in a zone with a half-hour offset, whose user data is poor. */
export const FASHION: SiteProfile = {
  client: GROUP,
  name: 'Saffron Threads',
  url: 'https://www.saffronthreads.example',
  timezone: 'Asia/Kolkata',
  serverContainerId: 'GTM-ST8C3VP',
  webContainerId: 'GTM-W9STJ4B',
  webVersion: 27,
  serverVersion: 14,
  measurementId: 'G-ST8C3VP7QK',
  cmp: 'cookieyes',
  consent: { signal: 0.96, choice: 0.84, ads: 0.82, analytics: 0.86, dma: false },
  batchSize: null,
  eventsPerMinute: 14,
  hours: [46, 30, 26, 26, 26, 28, 38, 58, 78, 94, 108, 116, 118, 114, 110, 108, 110, 114, 122, 134, 148, 152, 128, 84],
  weekdays: [0.95, 0.94, 0.95, 0.97, 1.0, 1.09, 1.1],
  events: shopEvents({ sent: 0.92, email: 0.31, phone: 0.22, name: 0.27, place: 0.7 }),
  tags: [TAGS.ga4, TAGS.googleAdsConversion, TAGS.googleAdsRemarketing, TAGS.metaCapiShop, TAGS.tiktok, TAGS.warehouse],
}

/** A coffee roaster whose tag sends batches, without execution times by event, and whose traffic peaks in the morning. */
export const COFFEE: SiteProfile = {
  client: GROUP,
  name: 'Harbour Coffee Roasters',
  url: 'https://www.harbourcoffee.example',
  timezone: 'Europe/London',
  serverContainerId: 'GTM-HC6R5YX',
  webContainerId: 'GTM-P3HCZ7N',
  webVersion: 64,
  serverVersion: 37,
  measurementId: 'G-HC6R5YXW8J',
  cmp: 'cookiebot',
  consent: { signal: 0.99, choice: 0.9, ads: 0.68, analytics: 0.78, dma: true },
  batchSize: 20,
  eventsPerMinute: 8,
  hours: [18, 12, 9, 8, 12, 38, 92, 140, 158, 146, 132, 122, 118, 112, 106, 108, 112, 118, 122, 118, 104, 82, 54, 30],
  weekdays: [1.14, 1.08, 1.05, 1.04, 1.02, 0.86, 0.81],
  events: shopEvents({ sent: 0.94, email: 0.91, phone: 0.34, name: 0.85, place: 0.8 }),
  tags: [TAGS.ga4, TAGS.googleAdsConversion, TAGS.metaCapi, TAGS.floodlight],
}

export const SITES: readonly SiteProfile[] = [OUTDOOR, FURNITURE, FASHION, COFFEE]
