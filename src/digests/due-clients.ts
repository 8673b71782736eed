import { DAY } from '../lib/index.ts'
import { digestOf } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { type DigestKind, type DuePeriod, duePeriod } from './due-period.ts'

/** A digest that is to be written. */
export interface DueDigest {
  clientId: string
  kind: DigestKind
  timezone: string
  period: DuePeriod
}

/** No period that is due ended longer ago. */
const LOOK_BACK_MS = 9 * DAY

/**
 * The digests that are due and not done with, of active clients with an address. Their days are those of the client's oldest
 * active site; without one there is nothing to report.
 */
export async function dueDigests({ read }: Pick<Store, 'read'>, now: number): Promise<DueDigest[]> {
  const clients = await read
    .selectFrom('clients')
    .select(['clients.id', 'clients.digest'])
    .select((eb) =>
      eb
        .selectFrom('sites')
        .select('sites.timezone')
        .whereRef('sites.client_id', '=', 'clients.id')
        .where('sites.is_active', '=', 1)
        .orderBy('sites.created_at')
        .orderBy('sites.site_no')
        .limit(1)
        .as('timezone'),
    )
    .where('clients.is_active', '=', 1)
    .where('clients.digest', '<>', 'off')
    .where('clients.email', 'is not', null)
    .orderBy('clients.id')
    .execute()
  if (clients.length === 0) return []
  const rows = await read
    .selectFrom('digests')
    .select(['client_id', 'period_end'])
    .where('period_end', '>', now - LOOK_BACK_MS)
    .execute()
  const done = new Set(rows.map(({ client_id, period_end }) => `${client_id} ${period_end}`))
  const periods = new Map<string, DuePeriod>()
  return clients.flatMap((client): DueDigest[] => {
    const { id, timezone } = client
    const kind = digestOf(client)
    if (kind === 'off' || timezone === null) return []
    const key = `${kind} ${timezone}`
    const period = periods.get(key) ?? duePeriod(kind, timezone, now)
    periods.set(key, period)
    return done.has(`${id} ${period.to}`) ? [] : [{ clientId: id, kind, timezone, period }]
  })
}
