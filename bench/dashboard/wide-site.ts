import { apiClient, type SiteKey } from '../../testkit/api.ts'

/** As much as the container of a large shop has. */
export const WIDE = { tags: 60, events: 40 } as const

const HOURS = 23
const HOUR = 3_600_000
const REQUESTS_AT_ONCE = 8

/** Creates a site and sends it a day of events, each with most of its tags. Every tag ran on every event, and some fail at times. */
export async function fillWideSite(url: string): Promise<SiteKey> {
  const api = apiClient(url)
  const site = await api.newSite(await api.newClient({ name: 'A large shop' }), { name: 'Wide' })
  const now = Date.now()
  const payloads = Array.from({ length: HOURS * WIDE.events }, (_, n) => {
    const event = n % WIDE.events
    return eventOf(now - Math.floor(n / WIDE.events) * HOUR, event)
  })
  const send = async (): Promise<void> => {
    for (let payload = payloads.pop(); payload !== undefined; payload = payloads.pop()) {
      const answer = await api.ingest(site, payload)
      if (answer.status !== 200) throw new Error(`an event was answered ${answer.status}: ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, send))
  return site
}

/** An event and its tags: the outcome and time of each follow from the numbers, so that each run draws the same. */
function eventOf(timestamp_ms: number, event: number): object {
  const tags = Array.from({ length: WIDE.tags }, (_, tag) => ({
    id: `${tag}`,
    name: `Vendor ${tag} conversion`,
    status: (tag * 7 + event * 3 + Math.floor(timestamp_ms / HOUR)) % 23 === 0 ? 'failure' : 'success',
    execution_time: 40 + ((tag * 13 + event) % 400),
  }))
  const presence = Object.fromEntries(
    ['email', 'phone', 'first_name', 'last_name', 'city', 'country'].map((field) => [`has_${field}`, event % 2 === 0]),
  )
  return { container_id: 'GTM-WIDE123', event_name: `event_number_${event}`, timestamp_ms, tags, user_data: presence }
}
