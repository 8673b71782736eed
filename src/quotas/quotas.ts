import { exclusively, expiring, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, Loop, MINUTE, monthOf } from '../lib/index.ts'
import { monthUsages } from '../management/index.ts'
import { type QuotaContext, stepOf, writeQuotaMessage } from './write.ts'

/** Longer than a month: a clock that is set back a little at the end of one must not send a message again. */
const KEPT_MS = 40 * DAY

export interface QuotasOptions extends QuotaContext {
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Notifies each client when its quota is nearly used up, and when it is: before and once its events are refused. */
export class Quotas {
  readonly loops: readonly Loop[]
  readonly #context: QuotaContext
  #isStopping = false

  constructor({ store, clock, reach, leases, onError }: QuotasOptions) {
    this.#context = { store, clock, reach }
    const writing = exclusively(leases, 'quota-messages', (isOurs) =>
      this.#writeDue(() => !this.#isStopping && isOurs()),
    )
    const clearing = expiring(leases, 'quota-retention', (now) => this.#clear(now))
    this.loops = [
      new Loop({ name: 'quota-messages', clock, intervalMs: MINUTE, tick: writing, onError }),
      new Loop({ name: 'quota-retention', clock, intervalMs: HOUR, tick: clearing, onError }),
    ]
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Waits for the current client, not for all. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }

  /** @throws AggregateError of the failures, after writing all others. */
  async #writeDue(mayGoOn: () => boolean): Promise<void> {
    await attemptAll(
      await this.#due(),
      mayGoOn,
      (clientId) => writeQuotaMessage(this.#context, clientId),
      (count) => `messages about quotas of ${count} clients could not be written`,
    )
  }

  /** Clients that are due a message they did not get yet. */
  async #due(): Promise<string[]> {
    const { store, clock } = this.#context
    const now = clock.now()
    const usages = (await monthUsages(store.read, now)).filter((usage) => stepOf(usage) !== null)
    if (usages.length === 0) return []
    const rows = await store.read
      .selectFrom('quota_messages')
      .select(['client_id', 'quota', 'step'])
      .where('month', '=', monthOf(now))
      .execute()
    const sent = new Set(rows.map(({ client_id, quota, step }) => `${client_id} ${quota} ${step}`))
    return usages.filter((usage) => !sent.has(`${usage.id} ${usage.limit} ${stepOf(usage)}`)).map(({ id }) => id)
  }

  async #clear(now: number): Promise<void> {
    await this.#context.store.write
      .deleteFrom('quota_messages')
      .where('month', '<', monthOf(now - KEPT_MS))
      .execute()
  }
}
