import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, apiClient, type SiteKey } from '../../testkit/api.ts'
import { event } from '../../testkit/payloads.ts'

/** Longest times between an answer 200 and its event's appearance in a report. */
export interface Visibility {
  measured: number
  longestMs: number
}

const POLL_MS = 100
const PAUSE_MS = 500
/** An event that does not appear by then counts as having taken that long. */
const GIVE_UP_MS = 120_000

/**
 * Sends one event after the other for a healthy site of its own, and asks for its report until it is there. Ends when
 * `signal` says so.
 */
export async function watchVisibility(url: string, site: SiteKey, signal: AbortSignal): Promise<Visibility> {
  const api = apiClient(url)
  const seen: Visibility = { measured: 0, longestMs: 0 }
  let expected = await totalOf(api, site)
  while (!signal.aborted) {
    if (await sendOne(api, site)) {
      expected += 1
      const answeredAt = performance.now()
      while ((await totalOf(api, site)) < expected && performance.now() - answeredAt < GIVE_UP_MS) await sleep(POLL_MS)
      seen.measured += 1
      seen.longestMs = Math.max(seen.longestMs, performance.now() - answeredAt)
    }
    await sleep(PAUSE_MS)
  }
  return seen
}

async function sendOne(api: ApiClient, site: SiteKey): Promise<boolean> {
  return (await api.ingest(site, event(Date.now(), { event_name: 'lead' }))).status === 200
}

/** Events that the report shows; a report that cannot be had shows none. */
const totalOf = (api: ApiClient, site: SiteKey): Promise<number> => api.totalEvents(site, 2).catch(() => 0)
