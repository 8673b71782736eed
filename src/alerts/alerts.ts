import { Jobs, type Leases } from '../cluster/index.ts'
import { type Clock, type Loop, MINUTE, SECOND } from '../lib/index.ts'
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
  /** Goes into the transaction that writes results. */
  readonly onResults: ResultHook
  readonly reach: Reach
  readonly #jobs: Jobs

  constructor({ store, clock, leases, reach, resultDays, onError }: AlertsOptions) {
    this.reach = reach
    this.onResults = (trx, written) => judgeResults(trx, store, written, reach, clock.now())
    this.#jobs = new Jobs({ clock, leases, onError })
      .onOneNode('alerts', UPKEEP_INTERVAL_MS, (mayGoOn) => runUpkeep(store, reach, clock.now(), mayGoOn))
      .deletingByAge('alert-retention', RETENTION_INTERVAL_MS, async (now, mayGoOn) => {
        await clearAlerts(store, resultDays, now, mayGoOn)
        await clearQuiet(store, resultDays, now)
      })
  }

  /** They come before those of the probes, whose rows they read. */
  readonly deletionHooks: DeletionHooks = {
    removeOfSites: removeAlertsOfSites,
    removeOfClient: (trx, clientId) => removeQuietOf(trx, { clientIds: [clientId] }),
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
}
