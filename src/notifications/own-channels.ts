import { MINUTE } from '../lib/index.ts'
import { type ClientChannelRow, chunksOf, type Kysely, type Tables } from '../store/index.ts'
import type { Severity } from './message.ts'
import { onCallPlans } from './on-call/plans.ts'
import type { OnCallPlan } from './on-call/who-is-on-call.ts'

/** A client's channel besides its chat webhook and its e-mail. */
export interface OwnChannel {
  id: string
  name: string
  address: string
  minimumSeverity: Severity
  /** How long a warning must last before it is sent over this channel, ms; null when the general setting applies. */
  warningsAfterMs: number | null
}

/** Returns the active channels of clients, the oldest first; clients without any are missing. */
async function ownChannels(db: Kysely<Tables>, clientIds: Iterable<string>): Promise<Map<string, OwnChannel[]>> {
  const rows: ClientChannelRow[] = []
  for (const ids of chunksOf([...new Set(clientIds)])) {
    const found = await db
      .selectFrom('client_channels')
      .selectAll()
      .where('client_id', 'in', ids)
      .where('is_active', '=', 1)
      .orderBy('id')
      .execute()
    rows.push(...found)
  }
  const channels = new Map<string, OwnChannel[]>()
  for (const row of rows) channels.set(row.client_id, [...(channels.get(row.client_id) ?? []), ownChannel(row)])
  return channels
}

/** Returns the clients with their channels and on-call plans. */
export async function withChannels<T extends { id: string }>(
  db: Kysely<Tables>,
  clients: readonly T[],
): Promise<(T & { channels: readonly OwnChannel[]; onCall: OnCallPlan | null })[]> {
  const ids = clients.map(({ id }) => id)
  const channels = await ownChannels(db, ids)
  const plans = await onCallPlans(db, ids)
  return clients.map((client) => ({
    ...client,
    channels: channels.get(client.id) ?? [],
    onCall: plans.get(client.id) ?? null,
  }))
}

export const ownChannel = (row: ClientChannelRow): OwnChannel => ({
  id: row.id,
  name: row.name,
  address: row.address,
  minimumSeverity: row.minimum_severity === 'critical' ? 'critical' : 'warning',
  warningsAfterMs: row.warnings_after_minutes === null ? null : row.warnings_after_minutes * MINUTE,
})
