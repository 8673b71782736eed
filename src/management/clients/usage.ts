import { type Clock, isoTime, monthOf, nextMonthStart } from '../../lib/index.ts'
import { type ClientRow, type ClientUsageTable, countOf, type Store } from '../../store/index.ts'
import { limitsOf, planOf } from '../plans.ts'
import { getClient } from './get.ts'
import type { UsageRecord } from './schemas.ts'

const HISTORY_MONTHS = 12
/** From this part of the limit on, people are warned. */
const WARNING_SHARE = 0.8

type MonthUsage = Pick<ClientUsageTable, 'month' | 'events' | 'requests'>

/**
 * What a client has sent this month and the months before.
 *
 * @throws AppError `not_found`.
 */
export async function getUsage(store: Pick<Store, 'read'>, clock: Clock, clientId: string): Promise<UsageRecord> {
  const client = await getClient(store, clientId)
  const rows = await store.read
    .selectFrom('client_usage')
    .select(['month', countOf('events').as('events'), countOf('requests').as('requests')])
    .where('client_id', '=', clientId)
    .execute()
  return usageRecord(client, rows, clock.now())
}

/** The report from the stored months; months without a row have sent nothing. */
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

/** @param share events of the month over the limit; null without one */
export function levelOf(share: number | null): UsageRecord['level'] {
  if (share === null || share < WARNING_SHARE) return 'ok'
  return share < 1 ? 'warning' : 'exceeded'
}

/** The months up to the one that holds `now`, oldest first. */
function lastMonths(now: number, count: number): number[] {
  const date = new Date(now)
  return Array.from({ length: count }, (_, index) =>
    monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (count - 1 - index), 1)),
  )
}

/** 202611 as `2026-11`. */
const monthText = (month: number): string => `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`
