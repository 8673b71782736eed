import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Access } from '../http/index.ts'
import { AppError, type Clock, fieldsOf } from '../lib/index.ts'
import type { ClientRow, SiteRow, Store, Tables, Transaction } from '../store/index.ts'
import type { KeyedCreate } from './create-keys.ts'
import type { Plan } from './plans.ts'

/** How other rooms identify a site. */
export type DeletedSite = Pick<SiteRow, 'id' | 'site_no'>

/** Each room deletes its own rows of clients and sites, in the transaction that deletes the client or site. */
export interface DeletionHooks {
  /** Deletes what belongs to these sites, or marks it for deletion. */
  removeOfSites: (trx: Transaction<Tables>, sites: readonly DeletedSite[]) => Promise<void>
  /** Deletes what belongs to this client itself; its sites have been removed. */
  removeOfClient: (trx: Transaction<Tables>, clientId: string) => Promise<void>
}

/** Runs all rooms' hooks, one room after the other. */
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
  /** Adds the probes for `auto_probes`, in the transaction that adds the site; as many as the caller may. */
  addProbes: (trx: Transaction<Tables>, ctx: Context, site: SiteRow, access: Access) => Promise<void>
  /** The plan of a client that is created without one. */
  defaultPlan: Plan
  /** Where people and tags reach the service, without a trailing slash; null when not set. */
  publicUrl: string | null
  /**
   * Waits until every node has noticed a change of this request that is committed: callers may use a new key with any node once they
   * have it.
   */
  untilAllKnowIt: (request: FastifyRequest) => Promise<void>
}

/** What every change needs. */
export interface Context {
  store: Store
  clock: Clock
  /** The caller's name in the audit log. */
  actor: string
  /** Names under which the caller's account or API token acts; left out for the keys of the settings, which people share. */
  ownNames?: readonly string[] | undefined
  /** Set for a create with an `Idempotency-Key`: the transaction that writes the audit log claims the key. */
  keyedCreate?: KeyedCreate | undefined
  /** Whether a create is refused when there is another of its name, see `requireNewName`. */
  onlyNew?: boolean
}

/** Query parameters of creates. `apply` recognises things by name, so two runs at once must not create one twice. */
export const CreateQuery = Type.Object(
  {
    only_new: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to answer 409, with a fault of its name, when there is another of the same name',
      }),
    ),
  },
  { additionalProperties: false },
)

export const contextOf = (
  { store, clock }: Pick<ManagementOptions, 'store' | 'clock'>,
  request: FastifyRequest,
): Context => ({
  store,
  clock,
  actor: request.access.actor,
  ownNames: ownNamesOf(request.access),
  keyedCreate: request.keyedCreate,
  onlyNew: fieldsOf(request.query).only_new === true,
})

const ownNamesOf = ({ holder, actor, person }: Access): string[] | undefined =>
  holder === null ? undefined : person === null ? [actor] : [actor, person.name]

/** Who does something, for people to read. Anyone may give any name, so beside one that is not their own stands their account. */
export function signedBy({ actor, ownNames }: Context, given: string | undefined): string {
  const name = given?.trim() ?? actor
  return ownNames?.includes(name) === false ? `${name} (${actor})` : name
}

// An update that changes nothing is the row lock that both engines support: SQLite has no `select … for update`.

/**
 * Reads a client and locks it until the transaction ends; undefined when there is none. Adding a site takes this lock too, so
 * that no site is added to a client while it is being deleted.
 */
export async function lockClient(trx: Transaction<Tables>, id: string): Promise<ClientRow | undefined> {
  return trx
    .updateTable('clients')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Reads a site and locks it until the transaction ends; undefined when there is none. */
export async function lockSite(trx: Transaction<Tables>, id: string): Promise<SiteRow | undefined> {
  return trx
    .updateTable('sites')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Refuses another one when the limit is reached.
 *
 * @param counting the statement that counts them; not run when `most` is infinite
 * @param text the message for the caller
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

/**
 * With `only_new`, refuses a name that another has. The transaction holds the lock of what both belong to, so that no other is
 * created meanwhile.
 *
 * @param finding the statement that finds the ids of those with the name
 * @param field what the API calls the name
 * @throws AppError `conflict` with a fault of the field
 */
export async function requireNewName(
  { onlyNew = false }: Context,
  finding: { executeTakeFirst(): Promise<{ id: string } | undefined> },
  field = 'name',
): Promise<void> {
  const other = onlyNew ? await finding.executeTakeFirst() : undefined
  if (other === undefined) return
  const message = `is already that of ${other.id}`
  throw new AppError('conflict', `/${field} ${message}`, [{ path: `/${field}`, message }])
}
