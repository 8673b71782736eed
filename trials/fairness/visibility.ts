import { setTimeout as sleep } from 'node:timers/promises'
import { overviewUrl, requestJson } from '../../bench/lib/management-api.ts'
import type { BenchSite } from '../../bench/lib/sites.ts'

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
export async function watchVisibility(url: string, site: BenchSite, signal: AbortSignal): Promise<Visibility> {
  const seen: Visibility = { measured: 0, longestMs: 0 }
  let expected = await totalOf(url, site)
  while (!signal.aborted) {
    if (await sendOne(url, site)) {
      expected += 1
      const answeredAt = performance.now()
      while ((await totalOf(url, site)) < expected && performance.now() - answeredAt < GIVE_UP_MS) await sleep(POLL_MS)
      seen.measured += 1
      seen.longestMs = Math.max(seen.longestMs, performance.now() - answeredAt)
    }
    await sleep(PAUSE_MS)
  }
  return seen
}

async function sendOne(url: string, site: BenchSite): Promise<boolean> {
  const response = await fetch(`${url}/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-key': site.key },
    body: JSON.stringify({ container_id: 'GTM-HEALTHY', event_name: 'lead', timestamp_ms: Date.now(), tags: [] }),
  })
  await response.text()
  return response.status === 200
}

/** Events that the report shows; a report that cannot be had shows none. */
async function totalOf(url: string, site: BenchSite): Promise<number> {
  try {
    return (await requestJson<{ total_events: number }>('GET', overviewUrl(url, site.id, 2))).total_events
  } catch {
    return 0
  }
}
