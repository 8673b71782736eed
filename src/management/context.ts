import type { FastifyRequest } from 'fastify'
import type { Clock } from '../lib/index.ts'
import type { SiteRow, Store, Tables, Transaction } from '../store/index.ts'
import type { Plan } from './plans.ts'

/** What belongs to sites but is kept by rooms above this one: they take part in the transactions that add and remove sites. */
export interface SiteBelongings {
  /** Adds what `auto_probes` asks for to a site that was just added. */
  addProbes: (trx: Transaction<Tables>, ctx: Context, site: SiteRow) => Promise<void>
  /** Deletes what belongs to these sites. */
  remove: (trx: Transaction<Tables>, siteIds: readonly string[]) => Promise<void>
}

export interface ManagementOptions {
  store: Store
  clock: Clock
  belongings: SiteBelongings
  /** Plan of a client that is created without one. */
  defaultPlan: Plan
}

/** What every verb that changes something works with. */
export interface Context {
  store: Store
  clock: Clock
  /** Who makes the change, as the audit log names them. */
  actor: string
}

export const contextOf = (
  { store, clock }: Pick<ManagementOptions, 'store' | 'clock'>,
  request: FastifyRequest,
): Context => ({
  store,
  clock,
  actor: request.access.actor,
})
