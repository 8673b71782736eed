import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../../lib/index.ts'
import { lastEventAt } from '../../management/index.ts'
import type { SiteRow, Store } from '../../store/index.ts'
import { readRefusals, readUnknownKeys } from '../counts/refusals.ts'
import { localMoment } from '../counts/unjudged.ts'
import type { SentCanary } from './memory.ts'

export interface Arrivals {
  /** When each arrived, by name, epoch ms. */
  at: ReadonlyMap<string, number>
  /** Other tags that ran on the latest canary sent outside a batch. */
  tags: readonly string[]
}

/** Ingest writes arrivals once a second. */
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = SECOND

/**
 * Waits until ingest on any node has the newest of these canaries, or the time is over.
 *
 * @param until `performance.now()` of the last look
 */
export async function waitForArrival(
  { read }: Pick<Store, 'read'>,
  siteNo: number,
  waiting: readonly SentCanary[],
  until: number,
  signal: AbortSignal,
): Promise<Arrivals> {
  const newest = waiting.at(-1)
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    const arrivals = await readArrivals(read, siteNo, waiting)
    const left = until - performance.now()
    if (newest === undefined || arrivals.at.has(newest.name) || left <= 0) return arrivals
    await delay(Math.min(wait, left), undefined, { signal })
  }
}

async function readArrivals(read: Store['read'], siteNo: number, waiting: readonly SentCanary[]): Promise<Arrivals> {
  if (waiting.length === 0) return { at: new Map(), tags: [] }
  const rows = await read
    .selectFrom('canary_arrivals')
    .select(['event_name', 'arrived_at', 'is_batched', 'tags'])
    .where('site_no', '=', siteNo)
    .where(
      'event_name',
      'in',
      waiting.map(({ name }) => name),
    )
    .orderBy('arrived_at')
    .execute()
  const alone = rows.findLast(({ is_batched }) => is_batched === 0)
  return {
    at: new Map(rows.map(({ event_name, arrived_at }) => [event_name, arrived_at])),
    tags: alone === undefined ? [] : textsIn(alone.tags),
  }
}

function textsIn(json: string): string[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : []
}

/** Says what this service received meanwhile, which shows where a canary was lost. */
export async function whyMissing(
  { read }: Pick<Store, 'read'>,
  site: SiteRow,
  sentAt: number,
  now: number,
): Promise<string> {
  const refusals = await readRefusals(read, site, now)
  if (refusals !== null) return `Ingest is reached, but requests are ${refusals.message}`
  const last = await lastEventAt(read, site.site_no)
  if (last !== null && last >= sentAt) {
    return 'Other events arrive: the trigger of the tag excludes canaries, or no client claims them'
  }
  const since =
    last === null
      ? 'No other event has ever arrived'
      : `No other event has arrived since ${localMoment(last, site.timezone)}`
  const unknown = await readUnknownKeys(read, site, now)
  return unknown === null
    ? `${since}: look at the container, its tag and its way to this service`
    : `${since}; ${unknown}`
}
