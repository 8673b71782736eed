import { exclusively, expiring, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, Loop, MINUTE } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import { dueDigests } from './due-digests.ts'
import { type DigestContext, writeDigest } from './write-digest.ts'

/** Longer than any period may still be due. */
const KEPT_MS = 60 * DAY

export interface DigestsOptions extends DigestContext {
  leases: Leases
  /** Without it no digest can be sent, and nothing is done. */
  isEmailOn: boolean
  onError: (error: Error, loop: string) => void
}

/** Writes each client's daily or weekly digest when it is due. */
export class Digests {
  readonly loops: readonly Loop[]
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await trx.deleteFrom('digests').where('client_id', '=', clientId).execute()
    },
  }
  readonly #context: DigestContext
  #isStopping = false

  constructor({ store, clock, retention, leases, isEmailOn, onError }: DigestsOptions) {
    this.#context = { store, clock, retention }
    const writing = exclusively(leases, 'digests', (isOurs) => this.#writeDue(() => !this.#isStopping && isOurs()))
    const clearing = expiring(leases, 'digest-retention', (now) => this.#clear(now))
    const loops = [
      new Loop({ name: 'digests', clock, intervalMs: MINUTE, tick: writing, onError }),
      new Loop({ name: 'digest-retention', clock, intervalMs: HOUR, tick: clearing, onError }),
    ]
    this.loops = isEmailOn ? loops : []
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Waits for the digest under way, not for all that are due. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }

  /** @throws AggregateError of what failed, when every digest that can be written is. */
  async #writeDue(mayGoOn: () => boolean): Promise<void> {
    const { store, clock } = this.#context
    await attemptAll(
      await dueDigests(store, clock.now()),
      mayGoOn,
      (due) => writeDigest(this.#context, due),
      (count) => `${count === 1 ? '1 digest' : `${count} digests`} could not be written`,
    )
  }

  async #clear(now: number): Promise<void> {
    await this.#context.store.write
      .deleteFrom('digests')
      .where('written_at', '<', now - KEPT_MS)
      .execute()
  }
}
