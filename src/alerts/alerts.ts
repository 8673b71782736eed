import { exclusively, expiring, type Leases } from '../cluster/index.ts'
import { type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Reach } from '../notifications/index.ts'
import type { ResultHook } from '../probes/index.ts'
import type { Store } from '../store/index.ts'
import { judgeResults } from './on-results.ts'
import { removeQuietOf } from './quiet.ts'
import { clearAlerts, clearQuiet, removeAlertsOfSites } from './retention.ts'
import { runUpkeep } from './upkeep.ts'

/** What people notice of it: how late a reminder comes, and how long an alert outlives its probe. */
const UPKEEP_INTERVAL_MS = 2 * SECOND
const RETENTION_INTERVAL_MS = 10 * MINUTE

export interface AlertsOptions {
  store: Store
  clock: Clock
  leases: Leases
  reach: Reach
  /** Days that alerts are kept after they ended. */
  resultDays: number
  onError: (error: Error, what: string) => void
}

/** Alerts follow from the results of probes, and from time. */
export class Alerts {
  readonly loops: readonly Loop[]
  /** Goes into the transaction that writes results. */
  readonly onResults: ResultHook
  readonly reach: Reach
  #isStopping = false

  constructor({ store, clock, leases, reach, resultDays, onError }: AlertsOptions) {
    this.reach = reach
    this.onResults = (trx, written) => judgeResults(trx, store, written, reach, clock.now())
    const upkeep = exclusively(leases, 'alerts', (isOurs) =>
      runUpkeep(store, reach, clock.now(), () => !this.#isStopping && isOurs()),
    )
    const retention = expiring(leases, 'alert-retention', async (now, mayGoOn) => {
      await clearAlerts(store, resultDays, now, () => !this.#isStopping && mayGoOn())
      await clearQuiet(store, resultDays, now)
    })
    this.loops = [
      new Loop({ name: 'alerts', clock, intervalMs: UPKEEP_INTERVAL_MS, tick: upkeep, onError }),
      new Loop({ name: 'alert-retention', clock, intervalMs: RETENTION_INTERVAL_MS, tick: retention, onError }),
    ]
  }

  /** They come before those of the probes, whose rows they read. */
  readonly deletionHooks: DeletionHooks = {
    removeOfSites: removeAlertsOfSites,
    removeOfClient: (trx, clientId) => removeQuietOf(trx, { clientIds: [clientId] }),
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }
}
