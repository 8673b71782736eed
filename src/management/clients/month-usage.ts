import { monthOf } from '../../lib/index.ts'
import { countOf, type Kysely, type Tables } from '../../store/index.ts'
import { limitsOf } from '../plans.ts'
import type { UsageRecord } from './schemas.ts'
import { levelOf } from './usage.ts'

/** A client's use of a quota that it has. */
export interface MonthUsage {
  /** Of all its sites in the UTC month. */
  events: number
  limit: number
  level: UsageRecord['level']
}

/** What active clients with a quota have used of it in the month of `now`, oldest client first. */
export async function monthUsages(
  db: Kysely<Tables>,
  now: number,
): Promise<(MonthUsage & { id: string; name: string })[]> {
  const clients = await db
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
    .where('is_active', '=', 1)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return clients.flatMap((client) => {
    const { id, name } = client
    const limit = limitsOf(client).eventsPerMonth
    // Without a row the join finds null.
    const events = client.events ?? 0
    return limit === null ? [] : [{ id, name, events, limit, level: levelOf(events / limit) }]
  })
}

/** What a client has used of its quota in the month of `now`; null without a quota, or without the client. */
export async function monthUsage(db: Kysely<Tables>, clientId: string, now: number): Promise<MonthUsage | null> {
  const client = await db
    .selectFrom('clients')
    .select(['plan', 'requests_per_second', 'events_per_month'])
    .where('id', '=', clientId)
    .executeTakeFirst()
  const limit = client === undefined ? null : limitsOf(client).eventsPerMonth
  if (limit === null) return null
  const row = await db
    .selectFrom('client_usage')
    .select(countOf('events').as('events'))
    .where('client_id', '=', clientId)
    .where('month', '=', monthOf(now))
    .executeTakeFirst()
  const events = row?.events ?? 0
  return { events, limit, level: levelOf(events / limit) }
}
