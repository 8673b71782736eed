import type { ReportContext } from '../analytics/index.ts'
import { Jobs, type Leases } from '../cluster/index.ts'
import { HOUR, type Loop, MINUTE } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { clearSiteDays, writeSiteDays } from './site-days.ts'

export interface UptimeOptions extends ReportContext {
  store: Store
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Writes down what each site was on each day. */
export class Uptime {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = {
    removeOfSites: async (trx, sites) => {
      for (const { id } of sites) await trx.deleteFrom('site_days').where('site_id', '=', id).execute()
    },
  }
  readonly #jobs: Jobs

  constructor({ leases, onError, ...context }: UptimeOptions) {
    // A clock that was set ahead would write days that have not been, as unknown ones for ever.
    this.#jobs = new Jobs({ clock: context.clock, leases, onError })
      .deletingByAge('site-days', MINUTE, (now, shouldContinue) => writeSiteDays(context, now, shouldContinue))
      .deletingByAge('site-day-retention', HOUR, (now) => clearSiteDays(context.store, now))
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
