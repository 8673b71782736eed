import { type Clock, monthOf, nextMonthStart } from '../lib/index.ts'
import { lockClient, monthUsage, type QuotaUsage } from '../management/index.ts'
import { channelsOf, enqueue, isReachable, offChannels, type QuotaMessage, type Reach } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'

export interface QuotaContext {
  store: Store
  clock: Clock
  reach: Reach
}

/** The percentage to notify about at this use; null: none. */
export const stepOf = ({ level }: Pick<QuotaUsage, 'level'>): QuotaMessage['step'] | null =>
  level === 'ok' ? null : level === 'warning' ? 80 : 100

/**
 * Puts the message about a client's use of its quota into the outbox and records that, in one transaction: however many nodes
 * do it, and whenever one crashes, there is one message. While the client has no channel nothing is recorded: it is notified
 * once it gets one.
 */
export async function writeQuotaMessage({ store, clock, reach }: QuotaContext, clientId: string): Promise<void> {
  await store.write.transaction().execute(async (trx) => {
    const now = clock.now()
    const client = await lockClient(trx, clientId)
    if (client?.is_active !== 1 || !isReachable(client, reach, await offChannels(trx))) return
    const usage = await monthUsage(trx, clientId, now)
    const step = usage === null ? null : stepOf(usage)
    if (usage === null || step === null) return
    const { events, limit } = usage
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('quota_messages')
      .values({ client_id: clientId, month: monthOf(now), quota: limit, step, written_at: now })
      .onConflict((conflict) => conflict.columns(['client_id', 'month', 'quota', 'step']).doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows !== 1n) return
    const message: QuotaMessage = {
      kind: 'quota',
      client: { id: client.id, name: client.name },
      step,
      events,
      limit,
      seen_at: now,
      resets_at: nextMonthStart(now),
    }
    const entries = channelsOf({ client, ...reach }).map((channel) => ({ channel, clientId, alertId: null, message }))
    await enqueue(trx, entries, now)
  })
}
