import { COMMERCE_FIELDS, type Fired, USER_FIELDS } from './traffic.ts'

/** Counts by what they are about: `event purchase`, `tag GA4 failure`, `user email`. */
export type Counts = Map<string, number>

const TOTALS = ['total_events', 'user total', 'commerce total']

/** What a report of these events has to say. `batched` leaves out what a batch cannot tell. */
export function countsOf(fired: readonly Fired[], mode: 'per_event' | 'batched'): Counts {
  const counts: Counts = new Map(TOTALS.map((name) => [name, 0]))
  const add = (key: string, by = 1) => counts.set(key, (counts.get(key) ?? 0) + by)
  for (const { name, has, commerce, consent, ran } of fired) {
    add('total_events')
    add(`event ${name}`)
    for (const { key, status, ms, response } of ran) {
      add(`tag ${key} executions`)
      add(`tag ${key} ${status}`)
      add(`tag ${key} ms`, ms)
      if (response !== null) add(`answer ${key} response_${response}`)
      if (consent.ad_storage === 'denied') add(`denied ${key} ad_storage`)
      if (consent.analytics_storage === 'denied') add(`denied ${key} analytics_storage`)
    }
    add('consent total')
    for (const [purpose, said] of Object.entries(consent)) add(`consent ${purpose} ${said}`)
    add('user total')
    const isAddress = has.has('first_name') || has.has('last_name')
    if (isAddress) add('user address')
    for (const field of USER_FIELDS) {
      if (has.has(field) && (mode === 'per_event' || field === 'email' || field === 'phone')) add(`user ${field}`)
    }
    if (commerce === null) continue
    add('commerce total')
    for (const field of COMMERCE_FIELDS) if (commerce.has(field)) add(`commerce ${field}`)
  }
  return counts
}

const RESPONSES = ['response_2xx', 'response_3xx', 'response_4xx', 'response_5xx', 'response_none'] as const

type Presence = Record<string, number | { present: number }>

interface ConsentOfTag {
  tag_key: string
  ad_storage_denied: number
  analytics_storage_denied: number
}

/** The part of the overview that these tests read. */
export interface Overview {
  total_events: number
  events: { event_name: string; total: number }[]
  tags: ({ tag_key: string; executions: number; avg_ms: number | null } & Record<
    'success' | 'failure' | 'timeout' | 'exception',
    number
  >)[]
  user_data: Presence
  ecommerce: Presence
  consent: { total: number; tags: ConsentOfTag[] } & Record<
    'ad_storage' | 'analytics_storage',
    Record<'granted' | 'denied' | 'absent', number>
  >
  responses: { tags: ({ tag_key: string } & Record<(typeof RESPONSES)[number], number>)[] }
  rejections: Record<string, number>
  containers: { container_id: string }[]
}

/** An overview as the same counts; zeros other than totals are left out. */
export function reportedCounts(overview: Overview): Counts {
  const { total_events, events, tags, user_data, ecommerce, consent, responses } = overview
  const entries = [
    ['total_events', total_events] as const,
    ...events.map(({ event_name, total }) => [`event ${event_name}`, total] as const),
    ...tags.flatMap(({ tag_key, avg_ms, ...tag }) => [
      ...(['executions', 'success', 'failure', 'timeout', 'exception'] as const).map(
        (part) => [`tag ${tag_key} ${part}`, tag[part]] as const,
      ),
      [`tag ${tag_key} ms`, Math.round((avg_ms ?? 0) * tag.executions)] as const,
    ]),
    ...presence('user', user_data),
    ...presence('commerce', ecommerce),
    ['consent total', consent.total] as const,
    ...(['ad_storage', 'analytics_storage'] as const).flatMap((purpose) =>
      Object.entries(consent[purpose]).map(([said, count]) => [`consent ${purpose} ${said}`, count] as const),
    ),
    ...responses.tags.flatMap((tag) =>
      RESPONSES.map((column) => [`answer ${tag.tag_key} ${column}`, tag[column]] as const),
    ),
    ...consent.tags.flatMap((tag) => [
      [`denied ${tag.tag_key} ad_storage`, tag.ad_storage_denied] as const,
      [`denied ${tag.tag_key} analytics_storage`, tag.analytics_storage_denied] as const,
    ]),
  ]
  return new Map(entries.filter(([key, count]) => count > 0 || TOTALS.includes(key)))
}

const presence = (about: string, fields: Presence) =>
  Object.entries(fields).map(
    ([field, count]) => [`${about} ${field}`, typeof count === 'number' ? count : count.present] as const,
  )
