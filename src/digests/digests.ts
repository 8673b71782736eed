import { Jobs, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, type Loop, MINUTE } from '../lib/index.ts'
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
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await trx.deleteFrom('digests').where('client_id', '=', clientId).execute()
    },
  }
  readonly #context: DigestContext
  readonly #jobs: Jobs

  constructor({ store, clock, retention, leases, isEmailOn, onError }: DigestsOptions) {
    this.#context = { store, clock, retention }
    this.#jobs = new Jobs({ clock, leases, onError })
    if (!isEmailOn) return
    this.#jobs
      .onOneNode('digests', MINUTE, (mayGoOn) => this.#writeDue(mayGoOn))
      .deletingByAge('digest-retention', HOUR, (now) => this.#clear(now))
  }

  get loops(): readonly Loop[] {
    return this.#jobs.loops
  }

  start(): void {
    this.#jobs.start()
  }

  stop(): Promise<void> {
    return this.#jobs.stop()
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
