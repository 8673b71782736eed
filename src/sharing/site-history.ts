import { Type } from 'typebox'
import { nullable } from '../http/index.ts'
import { Kept, MINUTE } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { DAY_STATUSES, dayStatus, readSiteDays, totalTimes, uptimeOf } from '../uptime/index.ts'
import type { SiteHealth } from './site-health.ts'

/** Days are made of thousands of results: read no more often than this for callers without a key, ms. */
const FRESH_MS = 5 * MINUTE

const share = nullable(
  Type.Number({ minimum: 0, maximum: 1, description: 'Share of the judged time without a critical problem' }),
)

/** The last 90 days of a site as anyone who has the link may see them: no counts. */
export const SharedHistory = {
  uptime: share,
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date', description: "Calendar day of the site's time zone" }),
      status: Type.Enum([...DAY_STATUSES]),
      uptime: share,
    }),
    { description: 'The last 90, oldest first; today as far as it has come' },
  ),
}

export interface SiteHistory {
  uptime: number | null
  days: { day: string; status: (typeof DAY_STATUSES)[number]; uptime: number | null }[]
}

export const NO_HISTORY: SiteHistory = { uptime: null, days: [] }

/** By the site's id. */
export type Histories = Kept<ReadonlyMap<string, SiteHistory>>

/** @param sitesOf the sites whose history it is */
export const histories = (
  { read }: Pick<Store, 'read'>,
  sitesOf: (now: number) => Promise<readonly SiteHealth[]>,
): Histories =>
  new Kept(FRESH_MS, async (now) => {
    const days = await readSiteDays(read, await sitesOf(now), now)
    return new Map(
      Array.from(days, ([id, ofSite]) => [
        id,
        {
          uptime: uptimeOf(totalTimes(ofSite)),
          days: ofSite.map(({ day, times }) => ({ day, status: dayStatus(times), uptime: uptimeOf(times) })),
        },
      ]),
    )
  })
