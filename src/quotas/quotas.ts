import { JobRunner, type Leases } from '../cluster/index.ts'
import { attemptAll, type Clock, counted, DAY, HOUR, MINUTE, monthOf, nextMonthStart } from '../lib/index.ts'
import {
  type DeletionHooks,
  lockClient,
  monthUsage,
  monthUsages,
  PLAN_LIMITS,
  type QuotaUsage,
} from '../management/index.ts'
import {
  type ChannelSettings,
  channelsOf,
  enqueue,
  isForIncidents,
  isWorking,
  kindOf,
  offChannels,
  type QuotaMessage,
  withChannels,
} from '../notifications/index.ts'
import type { Kysely, Store, Tables } from '../store/index.ts'

/**
 * From this share on, a batch that is refused for the quota says that it is used up: what is left is less than the client sends at once,
 * so the last events are never used.
 */
const LAST_SHARE = 0.99

/** A refusal is this recent while the client still sends. */
const RECENT_MS = 15 * MINUTE

/** More than a month: if the clock is set back a little at the end of one, no message may be sent again. */
const KEPT_MS = 40 * DAY

export interface QuotasOptions extends QuotaContext {
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Notifies each client twice: when its quota is nearly used up, and when it is used up and events are refused. */
export class Quotas extends JobRunner {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await trx.deleteFrom('quota_messages').where('client_id', '=', clientId).execute()
    },
  }
  readonly #context: QuotaContext

  constructor({ store, clock, channelSettings, leases, onError }: QuotasOptions) {
    super({ clock, leases, onError })
    this.#context = { store, clock, channelSettings }
    this.jobs
      .onOneNode('quota-messages', MINUTE, (shouldContinue) => this.#writeDue(shouldContinue))
      .deletingByAge('quota-retention', HOUR, (now) => this.#clear(now))
  }

  /** @throws AggregateError of the failures, after writing all others. */
  async #writeDue(shouldContinue: () => boolean): Promise<void> {
    await attemptAll(
      await this.#due(),
      shouldContinue,
      (clientId) => writeQuotaMessage(this.#context, clientId),
      (count) => `messages about quotas of ${counted(count, 'client')} could not be written`,
    )
  }

  /** Clients with a message due that they have not been sent yet. */
  async #due(): Promise<string[]> {
    const { store, clock } = this.#context
    const now = clock.now()
    const usages = (await monthUsages(store.read, now)).filter(({ level }) => level !== 'ok')
    if (usages.length === 0) return []
    const rows = await store.read
      .selectFrom('quota_messages')
      .select(['client_id', 'quota', 'step'])
      .where('month', '=', monthOf(now))
      .execute()
    const sent = new Set(rows.map(({ client_id, quota, step }) => `${client_id} ${quota} ${step}`))
    const due: string[] = []
    for (const usage of usages) {
      const isSent = (step: Step) => sent.has(`${usage.id} ${usage.limit} ${step}`)
      if (!isSent(100) && !isSent(await stepOf(store.read, usage.id, usage, now))) due.push(usage.id)
    }
    return due
  }

  async #clear(now: number): Promise<void> {
    await this.#context.store.write
      .deleteFrom('quota_messages')
      .where('month', '<', monthOf(now - KEPT_MS))
      .execute()
  }
}

interface QuotaContext {
  store: Store
  clock: Clock
  channelSettings: ChannelSettings
}

type Step = QuotaMessage['step']

/** The percentage to notify about at a usage from 80 % on. */
async function stepOf(db: Kysely<Tables>, clientId: string, usage: QuotaUsage, now: number): Promise<Step> {
  if (usage.level === 'exceeded') return 100
  return usage.events >= LAST_SHARE * usage.limit && (await isRefused(db, clientId, now)) ? 100 : 80
}

/** Whether a site of the client was refused for the quota a moment ago. */
async function isRefused(db: Kysely<Tables>, clientId: string, now: number): Promise<boolean> {
  const refusal = await db
    .selectFrom('rejections')
    .innerJoin('sites', 'sites.site_no', 'rejections.site_no')
    .select('rejections.rejected_at')
    .where('sites.client_id', '=', clientId)
    .where('rejections.path', '=', PLAN_LIMITS.quota)
    .where('rejections.rejected_at', '>', now - RECENT_MS)
    .limit(1)
    .executeTakeFirst()
  return refusal !== undefined
}

/**
 * Puts the message about a client's quota into the outbox and records it, in one transaction: exactly one is sent, however many
 * nodes try and whenever one crashes. While the client has no working channel for it nothing is recorded, so that the client is
 * notified once it has one.
 */
export async function writeQuotaMessage(
  { store, clock, channelSettings }: QuotaContext,
  clientId: string,
): Promise<void> {
  await store.write.transaction().execute(async (trx) => {
    const now = clock.now()
    const locked = await lockClient(trx, clientId)
    const [client] = locked === undefined ? [] : await withChannels(trx, [locked])
    if (client?.is_active !== 1) return
    const channels = channelsOf({ client, ...channelSettings }).filter(
      ({ key, address }) => !isForIncidents(kindOf(key, address)),
    )
    if (!channels.some(isWorking(await offChannels(trx)))) return
    const usage = await monthUsage(trx, clientId, now)
    if (usage === null || usage.level === 'ok') return
    const step = await stepOf(trx, clientId, usage, now)
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
    await enqueue(
      trx,
      channels.map((channel) => ({ channel, clientId, alertId: null, message })),
      now,
    )
  })
}
