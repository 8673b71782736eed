import type { ReportContext } from '../analytics/index.ts'
import { JobRunner, type Leases } from '../cluster/index.ts'
import { HOUR, MINUTE } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { clearSiteDays, writeSiteDays } from './site-days.ts'

export interface UptimeOptions extends ReportContext {
  store: Store
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Writes down what each site was on each day. */
export class Uptime extends JobRunner {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = {
    removeOfSites: async (trx, sites) => {
      for (const { id } of sites) await trx.deleteFrom('site_days').where('site_id', '=', id).execute()
    },
  }

  constructor({ leases, onError, ...context }: UptimeOptions) {
    super({ clock: context.clock, leases, onError })
    // A clock that was set ahead would write days that have not been, as unknown ones for ever.
    this.jobs
      .deletingByAge('site-days', MINUTE, (now, shouldContinue) => writeSiteDays(context, now, shouldContinue))
      .deletingByAge('site-day-retention', HOUR, (now) => clearSiteDays(context.store, now))
  }
}
