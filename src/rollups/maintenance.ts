import { exclusively, expiring, type Leases } from '../cluster/index.ts'
import { type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'
import { Backoff } from './backoff.ts'
import { removeDeletedSites, removeUsage, requestRemovals } from './removal.ts'
import { applyRetention, type Retention } from './retention.ts'
import { rollUpAll } from './roll-up.ts'

const ROLL_UP_INTERVAL_MS = 10 * SECOND
const RETENTION_INTERVAL_MS = 30 * MINUTE
const REMOVAL_INTERVAL_MS = 5 * SECOND

export interface MaintenanceOptions {
  store: Store
  clock: Clock
  leases: Leases
  retention: Retention
  onError: (error: Error, loop: string) => void
}

/**
 * The loops that keep the rollups in shape: compaction, retention and the rest of deleted sites. They run on one node at a time,
 * and do no harm if two run for a moment: a roll-up clears its dirty bucket in the transaction that needs it, and a row can be
 * deleted only once.
 */
export class Maintenance {
  readonly loops: readonly Loop[]
  /** What rows of deleted sites and clients need; `DeletionHooks` of management, which this room does not know. */
  readonly deletionHooks: {
    removeOfSites: (trx: Transaction<Tables>, sites: readonly { site_no: number }[]) => Promise<void>
    removeOfClient: (trx: Transaction<Tables>, clientId: string) => Promise<void>
  }
  #isStopping = false

  constructor({ store, clock, leases, retention, onError }: MaintenanceOptions) {
    const backoff = new Backoff()
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    const deleting = (name: string, work: (now: number, mayGoOn: () => boolean) => Promise<void>) =>
      expiring(leases, name, (now, mayGoOn) => work(now, () => !this.#isStopping && mayGoOn()))
    const rollingUp = exclusively(leases, 'roll-up', async (isOurs) => {
      const mayGoOn = () => !this.#isStopping && isOurs()
      await rollUpAll(store, clock, { backoff, mayGoOn })
    })
    const retaining = deleting('retention', (now, mayGoOn) => applyRetention(store, retention, now, mayGoOn))
    const removing = deleting('removal', (now, mayGoOn) => removeDeletedSites(store, now, mayGoOn))
    this.deletionHooks = {
      removeOfSites: (trx, sites) => requestRemovals(trx, sites, clock.now()),
      removeOfClient: removeUsage,
    }
    this.loops = [
      loop('roll-up', ROLL_UP_INTERVAL_MS, rollingUp),
      loop('retention', RETENTION_INTERVAL_MS, retaining),
      loop('removal', REMOVAL_INTERVAL_MS, removing),
    ]
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Waits for the step under way, not for the whole round. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }
}
