import type { FastifyRequest } from 'fastify'
import type { Clock } from '../lib/index.ts'
import type { SiteRow, Store, Tables, Transaction } from '../store/index.ts'
import type { Plan } from './plans.ts'

/** What belongs to clients and sites but is kept by rooms above this one: they take part in the transactions that add and remove those. */
export interface Belongings {
  /** Adds what `auto_probes` asks for to a site that was just added. */
  addProbes: (trx: Transaction<Tables>, ctx: Context, site: SiteRow) => Promise<void>
  /** Deletes what belongs to these sites. */
  removeOfSites: (trx: Transaction<Tables>, siteIds: readonly string[]) => Promise<void>
  /** Deletes what belongs to this client itself; its sites have been removed. */
  removeOfClient: (trx: Transaction<Tables>, clientId: string) => Promise<void>
}

export interface ManagementOptions {
  store: Store
  clock: Clock
  belongings: Belongings
  /** Plan of a client that is created without one. */
  defaultPlan: Plan
  /** Where people and tags reach the service, without a slash at its end; null when that is not set. */
  publicUrl: string | null
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
