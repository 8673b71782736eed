import type { FastifyRequest } from 'fastify'
import { AppError, type Clock } from '../lib/index.ts'
import type { ClientRow, SiteRow, Store, Tables, Transaction } from '../store/index.ts'
import type { KeyedCreate } from './create-keys.ts'
import type { Plan } from './plans.ts'

/** What other rooms know a site by. */
export type DeletedSite = Pick<SiteRow, 'id' | 'site_no'>

/** Each room deletes its own rows of clients and sites, in the transaction that deletes the client or site. */
export interface DeletionHooks {
  /** Deletes what belongs to these sites, or notes that it is to be deleted. */
  removeOfSites: (trx: Transaction<Tables>, sites: readonly DeletedSite[]) => Promise<void>
  /** Deletes what belongs to this client itself; its sites have been removed. */
  removeOfClient: (trx: Transaction<Tables>, clientId: string) => Promise<void>
}

/** All of them, one room after the other. */
export const hooksInOrder = (rooms: readonly Partial<DeletionHooks>[]): DeletionHooks => ({
  async removeOfSites(trx, sites) {
    for (const room of rooms) await room.removeOfSites?.(trx, sites)
  },
  async removeOfClient(trx, clientId) {
    for (const room of rooms) await room.removeOfClient?.(trx, clientId)
  },
})

export interface ManagementOptions {
  store: Store
  clock: Clock
  deletionHooks: DeletionHooks
  /** Adds the probes that `auto_probes` asks for, in the transaction that adds the site. */
  addProbes: (trx: Transaction<Tables>, ctx: Context, site: SiteRow) => Promise<void>
  /** Plan of a client that is created without one. */
  defaultPlan: Plan
  /** Where people and tags reach the service, without a slash at its end; null when that is not set. */
  publicUrl: string | null
  /** How long other nodes may take to learn of a change, ms; 0 where there are none. */
  otherNodesMs: number
}

/** What every verb that changes something works with. */
export interface Context {
  store: Store
  clock: Clock
  /** Who makes the change, as the audit log names them. */
  actor: string
  /** Of a create that the caller gave an `Idempotency-Key`: the transaction that writes the audit log claims it. */
  keyedCreate?: KeyedCreate | undefined
}

export const contextOf = (
  { store, clock }: Pick<ManagementOptions, 'store' | 'clock'>,
  request: FastifyRequest,
): Context => ({
  store,
  clock,
  actor: request.access.actor,
  keyedCreate: request.keyedCreate,
})

// An update that changes nothing is the row lock that both engines understand: SQLite has no `select … for update`.

/**
 * Reads a client and keeps others from changing it until the transaction ends; undefined when there is none. The caller who adds
 * a site takes this lock too, so that no site is added to a client while it is being deleted.
 */
export async function lockClient(trx: Transaction<Tables>, id: string): Promise<ClientRow | undefined> {
  return trx
    .updateTable('clients')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Reads a site and keeps others from changing it until the transaction ends; undefined when there is none. */
export async function lockSite(trx: Transaction<Tables>, id: string): Promise<SiteRow | undefined> {
  return trx
    .updateTable('sites')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Refuses one more where there are as many as there may be.
 *
 * @param counting the statement that counts them; not run where there may be any number
 * @param text what the caller reads
 * @throws AppError `conflict`
 */
export async function requireRoom(
  counting: { executeTakeFirstOrThrow(): Promise<{ count: number }> },
  most: number,
  text: string,
): Promise<void> {
  if (most === Number.POSITIVE_INFINITY) return
  const { count } = await counting.executeTakeFirstOrThrow()
  if (Number(count) >= most) throw new AppError('conflict', text)
}
