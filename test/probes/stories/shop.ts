import type { Consent } from '../../../src/journal/consent.ts'
import type { EventPayload, TagExecution } from '../../../src/journal/payload.ts'
import { DAY, floorTo, HOUR, MINUTE, SECOND } from '../../../src/lib/index.ts'
import type { Random } from '../../../testkit/random.ts'

/** A payload, and when its sender sends it. */
export interface Sending {
  at: number
  payload: EventPayload
}

/** Something that happens at a shop: it changes what is sent in its time. */
export interface Act {
  /** The types of probes that may find something bad while it lasts, and for as long after it as their windows reach. */
  bad: readonly string[]
  /** Those of them that have to, where it lasts for hours of a busy day. */
  found?: readonly string[]
  /** What some probe says while it lasts. */
  says?: RegExp
  change: (sending: Sending, random: Random) => readonly Sending[]
  /** What people or machines do here, and take back at its end. */
  here?: 'the site is switched off' | 'the key is revoked' | 'no process runs'
}

export interface ShopOptions {
  /** Visits in the busiest hour. */
  busy: number
  timezone: string
  /** How many times as many come in this hour, as in a campaign. */
  level?: (hour: number) => number
}

/** Of the busiest hour, by the local hour. */
const SHAPE = [
  0.12, 0.06, 0.04, 0.04, 0.05, 0.1, 0.25, 0.45, 0.6, 0.7, 0.75, 0.8, 0.85, 0.8, 0.75, 0.75, 0.8, 0.85, 0.95, 1, 1, 0.8,
  0.5, 0.25,
]

/** How many visits begin in an hour, by its local time. */
function visitsIn(hour: number, { busy, timezone, level }: ShopOptions, random: Random): number {
  const local = Number(
    new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', hourCycle: 'h23' }).format(hour),
  )
  const mean = busy * (SHAPE[local] ?? 0) * (level?.(hour) ?? 1)
  let [count, left] = [0, -Math.log(1 - random.next())]
  while (left < mean) {
    count++
    left -= Math.log(1 - random.next())
  }
  return count
}

/** What the visitors of a whole hour cause, in order of time: page views, and of some of them more. */
function sendingsIn(hour: number, shop: ShopOptions, random: Random): Sending[] {
  return Array.from({ length: visitsIn(hour, shop, random) }, () => visit(hour + random.next() * HOUR, random))
    .flat()
    .toSorted((a, b) => a.at - b.at)
}

const CONTAINERS = ['GTM-ABC1234', 'GTM-XYZ9876'] as const

function visit(begins: number, random: Random): Sending[] {
  const [isSignedIn, isGranted] = [random.chance(0.4), random.chance(0.75)]
  const container = random.pick(CONTAINERS)
  const names = Array.from({ length: 1 + random.below(4) }, () => 'page_view')
  if (random.chance(0.5)) names.push('add_to_cart')
  if (random.chance(0.25)) names.push('purchase')
  return names.map((name, index) => {
    const at = Math.floor(begins + index * 30 * SECOND)
    return { at, payload: payloadOf(name, at, container, { isSignedIn, isGranted }, random) }
  })
}

const took = (random: Random) => Math.round(random.logBetween(60, 200))

function payloadOf(
  event_name: string,
  timestamp_ms: number,
  container_id: string,
  visitor: { isSignedIn: boolean; isGranted: boolean },
  random: Random,
): EventPayload {
  const isSale = event_name === 'purchase'
  const tag = (id: string, name: string): TagExecution => ({
    ...{ id, name, status: 'success', execution_time: took(random), response: '2xx' },
  })
  const choice = visitor.isGranted ? 'granted' : 'denied'
  const consent: Consent = { ad_storage: choice, analytics_storage: choice, updated: true }
  return {
    container_id,
    event_name,
    timestamp_ms,
    tags: [
      tag('1', 'GA4'),
      tag('2', 'Meta CAPI'),
      ...(isSale ? [tag('3', 'Google Ads')] : []),
      ...(visitor.isGranted ? [tag('4', 'TikTok')] : []),
    ],
    user_data: { has_email: visitor.isSignedIn || isSale, has_phone: false },
    ...(event_name === 'page_view'
      ? {}
      : { ecommerce: { has_value: true, has_currency: true, has_transaction_id: isSale, has_items: true } }),
    consent,
    identifiers: { has_event_id: true, has_client_id: true, has_fbp: visitor.isGranted, has_user_agent: true },
  }
}

/** All that a shop sends from one time to another, each at its own time. */
export function* shopFrom(from: number, to: number, shop: ShopOptions, random: Random): Generator<Sending> {
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    for (const sending of sendingsIn(hour, shop, random)) {
      if (sending.at >= from && sending.at < to) yield sending
    }
  }
}

const VOLUME = ['data_volume', 'data_freshness'] as const

const withTags = (sending: Sending, change: (tag: TagExecution) => readonly TagExecution[]): Sending => ({
  ...sending,
  payload: { ...sending.payload, tags: sending.payload.tags.flatMap(change) },
})

const ofTag =
  (name: string, change: (tag: TagExecution) => readonly TagExecution[]) =>
  (sending: Sending): Sending[] => [withTags(sending, (tag) => (tag.name === name ? change(tag) : [tag]))]

const withPayload = (sending: Sending, over: Partial<EventPayload>): Sending => ({
  ...sending,
  payload: { ...sending.payload, ...over },
})

/** A deploy gives an event another name: nothing is lost. */
const renaming = (name: string, event_name: string): Act => ({
  bad: [],
  says: new RegExp(`“${name}” has been arriving as “${event_name}” for `),
  change: (sending) => [sending.payload.event_name === name ? withPayload(sending, { event_name }) : sending],
})

/**
 * What may happen: what it changes, and which probes may find it bad. New ones go to the end: the place is the seed of the story, and where chance sends
 * few visitors in its hours, nothing can be found.
 */
export const ACTS: Readonly<Record<string, Act>> = {
  nothing: { bad: [], change: (sending) => [sending] },
  silence: { bad: VOLUME, change: () => [] },
  'half is lost': { bad: VOLUME, found: [], change: (sending, random) => (random.chance(0.5) ? [sending] : []) },
  'purchases are lost': {
    bad: ['data_volume'],
    change: (sending) => (sending.payload.event_name === 'purchase' ? [] : [sending]),
  },
  'purchases are renamed': renaming('purchase', 'order_placed'),
  'purchases come twice': {
    bad: ['data_volume'],
    change: (sending) => (sending.payload.event_name === 'purchase' ? [sending, sending] : [sending]),
  },
  'a tag is paused': { bad: ['tag_missing'], change: ofTag('Meta CAPI', () => []) },
  'a tag of purchases is paused': { bad: ['tag_missing'], change: ofTag('Google Ads', () => []) },
  'a tag is renamed': { bad: [], change: ofTag('Meta CAPI', (tag) => [{ ...tag, name: 'Meta Conversions API' }]) },
  'a tag has a new id': { bad: [], change: ofTag('Meta CAPI', (tag) => [{ ...tag, id: '22' }]) },
  'a tag is replaced': {
    bad: ['tag_missing'],
    change: ofTag('Meta CAPI', (tag) => [{ ...tag, id: '22', name: 'Meta by Stape' }]),
  },
  'a tag fails': {
    bad: ['tag_failure_rate'],
    change: (sending, random) =>
      ofTag('Meta CAPI', (tag) => [{ ...tag, status: random.chance(0.6) ? 'failure' : 'success' }])(sending),
  },
  'a tag of purchases fails': {
    bad: ['tag_failure_rate', 'tag_latency'],
    found: ['tag_failure_rate'],
    change: ofTag('Google Ads', (tag) => [{ ...tag, status: 'timeout', execution_time: 5_000 }]),
  },
  'a vendor refuses': { bad: ['vendor_status'], change: ofTag('Meta CAPI', (tag) => [{ ...tag, response: '4xx' }]) },
  'a vendor is slow': {
    bad: ['tag_latency'],
    change: ofTag('Meta CAPI', (tag) => [{ ...tag, execution_time: 900 + (tag.execution_time ?? 0) }]),
  },
  'a tag no longer waits': {
    bad: ['tag_latency'],
    change: ofTag('Meta CAPI', (tag) => [{ ...tag, execution_time: 2 }]),
  },
  'e-mail addresses are lost': {
    bad: ['user_data_quality'],
    change: (sending) => [withPayload(sending, { user_data: { has_email: false, has_phone: false } })],
  },
  'values are lost': {
    bad: ['ecommerce_quality'],
    change: (sending) =>
      sending.payload.ecommerce === undefined
        ? [sending]
        : [withPayload(sending, { ecommerce: { ...sending.payload.ecommerce, has_value: false } })],
  },
  'event ids are lost': {
    bad: ['duplicates'],
    change: (sending) => [
      withPayload(sending, { identifiers: { ...sending.payload.identifiers, has_event_id: false } }),
    ],
  },
  'all consent is denied': {
    bad: ['consent_signals', 'identifier_quality'],
    change: (sending) => [
      withTags(
        withPayload(sending, {
          consent: { ad_storage: 'denied', analytics_storage: 'denied', updated: false },
          identifiers: { ...sending.payload.identifiers, has_fbp: false },
        }),
        (tag) => (tag.name === 'TikTok' ? [] : [tag]),
      ),
    ],
  },
  'a tag ignores consent': {
    bad: ['consent_signals'],
    change: (sending) => [
      sending.payload.consent?.ad_storage === 'denied'
        ? withPayload(sending, {
            tags: [
              ...sending.payload.tags,
              { id: '4', name: 'TikTok', status: 'success', execution_time: 90, response: '2xx' },
            ],
          })
        : sending,
    ],
  },
  'payloads come late': {
    bad: VOLUME,
    found: [],
    change: (sending, random) => [{ ...sending, at: sending.at + random.between(10, 90) * MINUTE }],
  },
  'payloads come twice': { bad: ['data_volume'], found: [], change: (sending) => [sending, sending] },
  'the clock is three hours behind': {
    bad: ['data_volume'],
    change: (sending) => [withPayload(sending, { timestamp_ms: sending.payload.timestamp_ms - 3 * HOUR })],
  },
  'the clock is an hour ahead': {
    bad: [],
    change: (sending) => [withPayload(sending, { timestamp_ms: sending.payload.timestamp_ms + HOUR })],
  },
  'the clock is two days behind': {
    bad: [],
    change: (sending) => [withPayload(sending, { timestamp_ms: sending.payload.timestamp_ms - 2 * DAY })],
  },
  'payloads are invalid': {
    bad: VOLUME,
    change: (sending) => [withPayload(sending, { event_name: '' })],
  },
  'the site is switched off': {
    bad: [],
    change: (sending) => [sending],
    here: 'the site is switched off',
  },
  'the key is revoked, and a new one made': { bad: VOLUME, change: (sending) => [sending], here: 'the key is revoked' },
  'the service is down': { bad: [], change: () => [], here: 'no process runs' },
  'page views are renamed': renaming('page_view', 'page_seen'),
}
