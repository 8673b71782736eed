import { type Static, Type } from 'typebox'
import { deliveryByDay, type ReportContext } from '../analytics/index.ts'
import { errorResponses, type HttpApp, IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { floorTo, isoTime, MINUTE, SECOND } from '../lib/index.ts'
import { lastEventAt, requireSite } from '../management/index.ts'
import type { SiteRow, Store } from '../store/index.ts'
import { BUDGET_DAYS, siteBudget } from './budget.ts'
import {
  DAY_STATUSES,
  dayStatus,
  firstDayOf,
  LIVE_DAYS,
  readSiteDays,
  type SiteDay,
  totalTimes,
  uptimeOf,
} from './read-days.ts'
import type { StateTimes } from './spans.ts'

const Seconds = (description: string) => Type.Integer({ minimum: 0, description })

const times = {
  ok_seconds: Seconds('Seconds judged without a problem'),
  warning_seconds: Seconds('Seconds when the worst open problem was a warning'),
  critical_seconds: Seconds('Seconds with a critical problem'),
  maintenance_seconds: Seconds('Seconds of planned maintenance of the site'),
  unknown_seconds: Seconds(
    'Seconds when the site was not watched or not judged, a check could not run, or this service was down',
  ),
  uptime: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the judged time without a critical problem; null when nothing was judged',
    }),
  ),
}

const delivered = nullable(
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Share of tag executions that succeeded; null when none is known',
  }),
)

const UptimeDay = model('UptimeDay', {
  day: Type.String({ format: 'date', description: "Calendar day of the site's time zone" }),
  status: Type.Enum([...DAY_STATUSES], {
    description:
      '`critical` or `warning` when the day had such a problem, else `maintenance` when that lasted longer than the time that was ok, else `ok` when more time was ok than unknown, else `unknown`',
  }),
  ...times,
  delivered,
  is_final: Type.Boolean({ description: 'Whether the day is final' }),
})

const Slo = model('Slo', {
  target: Type.Number({ description: 'Percentage of the time that should be free of critical problems' }),
  days: Type.Integer({ description: 'Days that the budget covers, including today' }),
  budget_seconds: Seconds('Seconds of critical problems that the target allows in these days'),
  spent_seconds: Seconds('Seconds of critical problems so far in these days'),
  left: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the budget that is left' }),
})

export const UptimeAnswer = model('Uptime', {
  site_id: Uuid,
  timezone: Type.String(),
  generated_at: IsoTime,
  ...times,
  delivered,
  slo: nullable(Slo),
  first_day: nullable(
    Type.String({
      format: 'date',
      description: 'The first of the days on which the site was there; earlier ones are `unknown`',
    }),
  ),
  days: Type.Array(UptimeDay, { description: 'The last 90 days, oldest first; today up to now' }),
})
export type UptimeAnswer = Static<typeof UptimeAnswer>

/** Adds the report on how long a site was healthy. */
export function uptimeRoutes(app: HttpApp, context: ReportContext & { store: Pick<Store, 'read' | 'reports'> }): void {
  app.get(
    '/api/sites/:site_id/uptime',
    {
      config: { work: 'report' },
      schema: {
        tags: ['Reports'],
        summary: 'Read how long a site was healthy',
        description:
          'Each of the last 90 days of the site, in its time zone: how long it had each status, and how many executions of its tags succeeded. ' +
          'Time that was not judged is unknown and does not count as uptime or downtime.',
        params: Type.Object({ site_id: Uuid }),
        response: { 200: UptimeAnswer, ...errorResponses(404) },
      },
    },
    async ({ params: { site_id } }) => uptimeAnswer(context, await requireSite(context.store.read, site_id)),
  )
}

async function uptimeAnswer(context: ReportContext, site: SiteRow): Promise<UptimeAnswer> {
  const { read } = context.store
  const now = context.clock.now()
  const watched = { ...site, siteNo: site.site_no, lastEventAt: await lastEventAt(read, site.site_no) }
  const days = await withDelivery(context, site, (await readSiteDays(read, [watched], now)).get(site.id) ?? [], now)
  const budget = siteBudget(site, days)
  return {
    site_id: site.id,
    timezone: site.timezone,
    generated_at: isoTime(now),
    ...timesAnswer(totalTimes(days)),
    delivered: deliveredShare(days),
    slo:
      budget === null
        ? null
        : {
            target: budget.target,
            days: BUDGET_DAYS,
            budget_seconds: Math.round(budget.budget / SECOND),
            spent_seconds: Math.round(budget.spent / SECOND),
            left: budget.left,
          },
    first_day: firstDayOf(days, site.created_at),
    days: days.map((day) => ({
      day: day.day,
      status: dayStatus(day.times),
      ...timesAnswer(day.times),
      delivered: deliveredShare([day]),
      is_final: day.isFinal,
    })),
  }
}

/** Counts the executions of days that are not stored yet. */
async function withDelivery(
  context: ReportContext,
  site: SiteRow,
  days: readonly SiteDay[],
  now: number,
): Promise<SiteDay[]> {
  const open = days.slice(-LIVE_DAYS).filter(({ isFinal, to }) => !isFinal && to > site.created_at)
  const ranges = open.map(({ from, to }) => ({ from, to: Math.min(to, floorTo(now, MINUTE) + MINUTE) }))
  const counts = await deliveryByDay(context, site, ranges)
  return days.map((day) => {
    const count = counts[open.indexOf(day)]
    return count === undefined ? day : { ...day, executions: count.executions, successes: count.successes }
  })
}

const timesAnswer = (sums: StateTimes) => ({
  ok_seconds: Math.round(sums.ok / SECOND),
  warning_seconds: Math.round(sums.warning / SECOND),
  critical_seconds: Math.round(sums.critical / SECOND),
  maintenance_seconds: Math.round(sums.maintenance / SECOND),
  unknown_seconds: Math.round(sums.unknown / SECOND),
  uptime: uptimeOf(sums),
})

function deliveredShare(days: readonly Pick<SiteDay, 'executions' | 'successes'>[]): number | null {
  const executions = days.reduce((sum, day) => sum + (day.executions ?? 0), 0)
  const successes = days.reduce((sum, day) => sum + (day.successes ?? 0), 0)
  return executions === 0 ? null : successes / executions
}
