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
