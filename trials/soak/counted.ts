import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, type SiteKey } from '../../testkit/api.ts'
import type { LoadTotals } from './load/open-load.ts'

/** How what reports show agrees with what was answered 200, in events over all sites. */
export interface Counted {
  accepted: number
  counted: number
  /** Sites that show fewer events than were accepted, or more than were sent. */
  wrongSites: number
  /** Events of requests whose answer is not known: they may be counted or not. */
  doubtful: number
}

const TIMEOUT_MS = 30_000
const POLL_MS = 500

/** Compares site by site, once all that was accepted can be seen; at the latest after half a minute. */
export async function compareCounts(url: string, sites: readonly SiteKey[], totals: LoadTotals): Promise<Counted> {
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    const found = await compareOnce(url, sites, totals)
    if (found.wrongSites === 0 || Date.now() > deadline) return found
    await sleep(POLL_MS)
  }
}

async function compareOnce(url: string, sites: readonly SiteKey[], totals: LoadTotals): Promise<Counted> {
  const { acceptedEvents, doubtfulEvents } = totals
  const found: Counted = { accepted: 0, counted: 0, wrongSites: 0, doubtful: sum(doubtfulEvents) }
  for (const [index, site] of sites.entries()) {
    const counted = await apiClient(url).totalEvents(site, 24)
    const accepted = acceptedEvents[index] ?? 0
    found.accepted += accepted
    found.counted += counted
    if (counted < accepted || counted > accepted + (doubtfulEvents[index] ?? 0)) found.wrongSites += 1
  }
  return found
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
