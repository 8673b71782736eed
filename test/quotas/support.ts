import type { TestContext } from 'node:test'
import { monthOf } from '../../src/lib/index.ts'
import type { QuotaMessage } from '../../src/notifications/index.ts'
import { Quotas, type QuotasOptions } from '../../src/quotas/index.ts'
import type { ClientRow, Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { insertSite } from '../../testkit/sites.ts'
import { joinNode } from '../cluster/support.ts'

export const NOW = '2026-11-20T06:30:00.000Z'

/** A client with a quota of 1,000 events and a webhook; `over` replaces fields. */
export async function insertSender(store: Store, over: Partial<ClientRow> = {}): Promise<string> {
  const { client_id } = await insertSite(store)
  await store.write
    .updateTable('clients')
    .set({ events_per_month: 1_000, chat_webhook: 'https://chat.example/hook', ...over })
    .where('id', '=', client_id)
    .execute()
  return client_id
}

/** The client has sent so many events in the month of the time. */
export async function use(store: Store, client_id: string, events: number, time: string = NOW): Promise<void> {
  await store.write
    .insertInto('client_usage')
    .values({ client_id, month: monthOf(Date.parse(time)), events, requests: events })
    .onConflict((conflict) => conflict.columns(['client_id', 'month']).doUpdateSet({ events }))
    .execute()
}

/** A node that looks at quotas when the test says so. */
export async function openQuotas(t: TestContext, store: Store, over: Partial<QuotasOptions> = {}) {
  const clock = new TestClock(NOW)
  const { leases, membership, errors } = await joinNode(t, store, clock)
  const quotas = new Quotas({
    store,
    clock,
    leases,
    channelSettings: { globalWebhook: null, isEmailOn: true },
    onError: (error, what) => errors.push(`${what}: ${error.message}`),
    ...over,
  })
  t.after(() => quotas.stop())
  const tick = async () => {
    await membership.beat()
    for (const loop of quotas.loops) await loop.tick()
  }
  return { clock, errors, tick, membership }
}

/** The messages in the outbox, in their order. */
export async function written(store: Store) {
  const rows = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  return rows.map(({ channel, client_id, kind, message }) => ({
    channel,
    client_id,
    kind,
    message: JSON.parse(message) as QuotaMessage,
  }))
}

/** The notifications that were sent, in short: `80 of 1000`. */
export const sent = async (store: Store): Promise<string[]> =>
  (await written(store)).map(({ message: { step, limit } }) => `${step} of ${limit}`)

export const notes = (store: Store) =>
  store.write.selectFrom('quota_messages').selectAll().orderBy('quota').orderBy('step').execute()
