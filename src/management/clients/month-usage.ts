import { monthOf } from '../../lib/index.ts'
import { countOf, type Kysely, type Tables } from '../../store/index.ts'
import { limitsOf } from '../plans.ts'
import type { UsageRecord } from './schemas.ts'
import { levelOf } from './usage.ts'

/** A client's use of a quota that it has. */
export interface QuotaUsage {
  /** Of all its sites in the UTC month. */
  events: number
  limit: number
  level: UsageRecord['level']
}

/** What active clients with a quota have used of it in the month of `now`, oldest client first. */
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

/** What a client has used of its quota in the month of `now`; null without a quota, or without the client. */
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
  // Without a row the join finds null.
  const events = client.events ?? 0
  return limit === null ? null : { events, limit, level: levelOf(events / limit) }
}
