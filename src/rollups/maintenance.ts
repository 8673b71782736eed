import { JobRunner, type Leases } from '../cluster/index.ts'
import { type Clock, MINUTE, SECOND } from '../lib/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'
import type { Retention } from './range-plan.ts'
import { removeDeletedSites, removeUsage, requestRemovals } from './removal.ts'
import { applyRetention } from './retention.ts'
import { Backoff, rollUpAll } from './roll-up.ts'

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
 * The loops that maintain the rollups: roll-up, retention and removal of deleted sites. They run on one node at a time. Two at
 * once for a moment do no harm: a roll-up clears its dirty bucket in the transaction that derives it, and a row can be deleted
 * only once.
 */
export class Maintenance extends JobRunner {
  /** Removes rows of deleted sites and clients. Has the shape of `DeletionHooks` in management, which this room may not import. */
  readonly deletionHooks: {
    removeOfSites: (trx: Transaction<Tables>, sites: readonly { site_no: number }[]) => Promise<void>
    removeOfClient: (trx: Transaction<Tables>, clientId: string) => Promise<void>
  }

  constructor({ store, clock, leases, retention, onError }: MaintenanceOptions) {
    super({ clock, leases, onError })
    const backoff = new Backoff()
    this.jobs
      .onOneNode('roll-up', ROLL_UP_INTERVAL_MS, (shouldContinue) =>
        rollUpAll(store, clock, { backoff, shouldContinue }),
      )
      .deletingByAge('retention', RETENTION_INTERVAL_MS, (now, shouldContinue) =>
        applyRetention(store, retention, now, shouldContinue),
      )
      .deletingByAge('removal', REMOVAL_INTERVAL_MS, (now, shouldContinue) =>
        removeDeletedSites(store, now, shouldContinue),
      )
    this.deletionHooks = {
      removeOfSites: (trx, sites) => requestRemovals(trx, sites, clock.now()),
      removeOfClient: removeUsage,
    }
  }
}
