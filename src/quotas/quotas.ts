import { exclusively, expiring, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, Loop, MINUTE, monthOf } from '../lib/index.ts'
import { monthUsages } from '../management/index.ts'
import { type QuotaContext, stepOf, writeQuotaMessage } from './write.ts'

/** Longer than a month: a clock that is set back a little at its end tells nothing anew. */
const KEPT_MS = 40 * DAY

export interface QuotasOptions extends QuotaContext {
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Tells each client that its quota is nearly used up, and that it is: before and when its events are refused. */
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

  /** Waits for the client under way, not for all. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }

  /** @throws AggregateError of what failed, when all others are written. */
  async #writeDue(mayGoOn: () => boolean): Promise<void> {
    await attemptAll(
      await this.#due(),
      mayGoOn,
      (clientId) => writeQuotaMessage(this.#context, clientId),
      (count) => `messages about quotas of ${count} clients could not be written`,
    )
  }

  /** Clients with something to tell that was not told yet. */
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
    const told = new Set(rows.map(({ client_id, quota, step }) => `${client_id} ${quota} ${step}`))
    return usages.filter((usage) => !told.has(`${usage.id} ${usage.limit} ${stepOf(usage)}`)).map(({ id }) => id)
  }

  async #clear(now: number): Promise<void> {
    await this.#context.store.write
      .deleteFrom('quota_messages')
      .where('month', '<', monthOf(now - KEPT_MS))
      .execute()
  }
}
