import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { type Clock, isoTime, monthOf, nextMonthStart } from '../lib/index.ts'
import { type ClientRow, type ClientUsageTable, countOf, type Kysely, type Store, type Tables } from '../store/index.ts'

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** What a client's sites may send together; null for no limit. */
export interface Limits {
  requestsPerSecond: number | null
  /** Per calendar month, UTC. */
  eventsPerMonth: number | null
}

/** What a rejection names in place of a path: the limit of the plan that refused the request. */
export const PLAN_LIMITS = { rate: 'requests per second', quota: 'events per month' } as const

/** From the user's document, section 8. */
const FIXED_LIMITS: Readonly<Record<Exclude<Plan, 'enterprise'>, Limits>> = {
  free: { requestsPerSecond: 10, eventsPerMonth: 100_000 },
  pro: { requestsPerSecond: 100, eventsPerMonth: 1_000_000 },
  business: { requestsPerSecond: 500, eventsPerMonth: 10_000_000 },
}

/** @throws Error when this program did not write the row, as the store contains no other plans */
export function planOf({ plan }: Pick<ClientRow, 'plan'>): Plan {
  const known = PLANS.find((candidate) => candidate === plan)
  if (known === undefined) throw new Error(`the store holds an unknown plan: ${plan}`)
  return known
}

/** A client's limits: its plan's, or with `enterprise` its own. */
export function limitsOf(client: Pick<ClientRow, 'plan' | 'requests_per_second' | 'events_per_month'>): Limits {
  const plan = planOf(client)
  if (plan !== 'enterprise') return FIXED_LIMITS[plan]
  return { requestsPerSecond: client.requests_per_second, eventsPerMonth: client.events_per_month }
}

const Month = Type.String({ description: 'UTC calendar month, e.g. 2026-11' })
const Count = Type.Integer({ minimum: 0 })

export const UsageRecord = model('Usage', {
  client_id: Uuid,
  plan: Type.Enum(PLANS),
  month: Month,
  events: Count,
  requests: Count,
  limit: nullable(Type.Integer({ description: 'Events per month; null: unlimited' })),
  requests_per_second: nullable(Type.Integer({ description: 'null: unlimited' })),
  share: nullable(Type.Number({ description: 'Used share of the limit, 0 to 1; null without a limit' })),
  level: Type.Enum(['ok', 'warning', 'exceeded'], { description: '`warning` from 80 %, `exceeded` from 100 %' }),
  resets_at: IsoTime,
  history: Type.Array(Type.Object({ month: Month, events: Count, requests: Count }), {
    description: 'The last 12 months including the current one, oldest first',
  }),
})
export type UsageRecord = Static<typeof UsageRecord>

const HISTORY_MONTHS = 12
/** Share of the limit from which people are warned. */
const WARNING_SHARE = 0.8

type MonthUsage = Pick<ClientUsageTable, 'month' | 'events' | 'requests'>

/** What a client has sent in this month and in those before. */
export async function getUsage(store: Pick<Store, 'read'>, clock: Clock, client: ClientRow): Promise<UsageRecord> {
  const rows = await store.read
    .selectFrom('client_usage')
    .select(['month', countOf('events').as('events'), countOf('requests').as('requests')])
    .where('client_id', '=', client.id)
    .execute()
  return usageRecord(client, rows, clock.now())
}

/** The report from the stored months; months without a row count as 0. */
export function usageRecord(client: ClientRow, rows: readonly MonthUsage[], now: number): UsageRecord {
  const { eventsPerMonth, requestsPerSecond } = limitsOf(client)
  const byMonth = new Map(rows.map((row) => [row.month, row]))
  const history = lastMonths(now, HISTORY_MONTHS).map((month) => {
    const { events = 0, requests = 0 } = byMonth.get(month) ?? {}
    return { month: monthText(month), events, requests }
  })
  const { events = 0, requests = 0 } = byMonth.get(monthOf(now)) ?? {}
  const share = eventsPerMonth === null ? null : Math.min(1, events / eventsPerMonth)
  return {
    client_id: client.id,
    plan: planOf(client),
    month: monthText(monthOf(now)),
    events,
    requests,
    limit: eventsPerMonth,
    requests_per_second: requestsPerSecond,
    share,
    level: levelOf(share),
    resets_at: isoTime(nextMonthStart(now)),
    history,
  }
}

/** @param share events of the month divided by the limit; null without a limit */
function levelOf(share: number | null): UsageRecord['level'] {
  if (share === null || share < WARNING_SHARE) return 'ok'
  return share < 1 ? 'warning' : 'exceeded'
}

/** The months up to the one that contains `now`, oldest first. */
function lastMonths(now: number, count: number): number[] {
  const date = new Date(now)
  return Array.from({ length: count }, (_, index) =>
    monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (count - 1 - index), 1)),
  )
}

/** 202611 as `2026-11`. */
const monthText = (month: number): string => `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`

/** A client's usage of its quota. */
export interface QuotaUsage {
  /** Events of all its sites in the UTC month. */
  events: number
  limit: number
  level: UsageRecord['level']
}

/** The usage of active clients with a quota in the month of `now`, oldest client first. */
export async function monthUsages(
  db: Kysely<Tables>,
  now: number,
): Promise<(QuotaUsage & { id: string; name: string })[]> {
  const clients = await usedBy(db, now).where('is_active', '=', 1).orderBy('created_at').orderBy('id').execute()
  return clients.flatMap((client) => {
    const usage = usageOf(client)
    return usage === null ? [] : [{ id: client.id, name: client.name, ...usage }]
  })
}

/** A client's usage of its quota in the month of `now`; null without a quota or a client. */
export async function monthUsage(db: Kysely<Tables>, clientId: string, now: number): Promise<QuotaUsage | null> {
  const client = await usedBy(db, now).where('id', '=', clientId).executeTakeFirst()
  return client === undefined ? null : usageOf(client)
}

const usedBy = (db: Kysely<Tables>, now: number) =>
  db
    .selectFrom('clients')
    .leftJoin('client_usage', (join) =>
      join.onRef('client_usage.client_id', '=', 'clients.id').on('client_usage.month', '=', monthOf(now)),
    )
    .select([
      'id',
      'name',
      'plan',
      'requests_per_second',
      'events_per_month',
      countOf('client_usage.events').as('events'),
    ])

type Used = Awaited<ReturnType<ReturnType<typeof usedBy>['executeTakeFirstOrThrow']>>

function usageOf(client: Used): QuotaUsage | null {
  const limit = limitsOf(client).eventsPerMonth
  // The outer join returns null when the client has no usage.
  const events = client.events ?? 0
  return limit === null ? null : { events, limit, level: levelOf(events / limit) }
}
