import type { TimeRange } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import type { ReportContext } from './snapshot.ts'
import { parseRange, type RangeQuery } from './window.ts'

/** The most payloads and the most rejections in an answer. */
export const RECENT = 50

/** What arrived recently, newest first. Times are epoch ms. */
export interface Recent {
  /** Payloads as kept: flags and counters only. */
  accepted: { accepted_at: number; payload: Record<string, unknown> }[]
  rejections: { at: number; reason: string; path: string }[]
}

/**
 * A site's latest accepted payloads and rejections; with a window, those in it.
 *
 * @throws AppError `invalid_request` for a window that cannot be answered
 */
export async function recent(context: ReportContext, site: SiteRow, query: RangeQuery): Promise<Recent> {
  const range = isGiven(query) ? parseRange(query, context.clock.now(), context.retention) : EVER
  const { read } = context.store
  const accepted = await read
    .selectFrom('recent_payloads')
    .select(['accepted_at', 'payload'])
    .where('site_no', '=', site.site_no)
    .where('accepted_at', '>=', range.from)
    .where('accepted_at', '<', range.to)
    .orderBy('id', 'desc')
    .limit(RECENT)
    .execute()
  const rejections = await read
    .selectFrom('rejections')
    .select(['rejected_at as at', 'reason', 'path'])
    .where('site_no', '=', site.site_no)
    .where('rejected_at', '>=', range.from)
    .where('rejected_at', '<', range.to)
    .orderBy('id', 'desc')
    .limit(RECENT)
    .execute()
  return {
    accepted: accepted.map(({ accepted_at, payload }) => ({ accepted_at, payload: parsed(payload) })),
    rejections,
  }
}

const EVER: TimeRange = { from: 0, to: Number.MAX_SAFE_INTEGER }

const isGiven = (query: RangeQuery): boolean => Object.values(query).some((value) => value !== undefined)

/** Ingest wrote the text, so it is an object. */
const parsed = (payload: string): Record<string, unknown> => JSON.parse(payload) as Record<string, unknown>
