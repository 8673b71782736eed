import type { OwnedKind, OwnersOf } from '../http/index.ts'
import { AppError } from '../lib/index.ts'
import type { Kysely, Store, Tables, Transaction } from '../store/index.ts'
import { ALL_CLIENTS } from './roles.ts'

interface Owned {
  id: string
  client_id: string | null
}

type Find = (db: Kysely<Tables>, ids: readonly string[]) => Promise<Owned[]>

const inTable =
  (table: 'sites' | 'alerts' | 'incidents' | 'annotations' | 'deliveries'): Find =>
  (db, ids) =>
    db
      .selectFrom(table)
      .select(['id', 'client_id'])
      .where('id', 'in', [...ids])
      .execute()

const probes: Find = (db, ids) =>
  db
    .selectFrom('probes')
    .innerJoin('sites', 'sites.id', 'probes.site_id')
    .select(['probes.id', 'sites.client_id'])
    .where('probes.id', 'in', [...ids])
    .execute()

const silences: Find = (db, ids) =>
  db
    .selectFrom('silences')
    .leftJoin('probes', 'probes.id', 'silences.probe_id')
    .leftJoin('sites', (join) =>
      join.on((eb) => eb('sites.id', '=', eb.fn.coalesce('silences.site_id', 'probes.site_id'))),
    )
    .leftJoin('incidents', 'incidents.id', 'silences.incident_id')
    .select((eb) => [
      'silences.id',
      eb.fn.coalesce('silences.client_id', 'sites.client_id', 'incidents.client_id').as('client_id'),
    ])
    .where('silences.id', 'in', [...ids])
    .execute()

const maintenance: Find = (db, ids) =>
  db
    .selectFrom('maintenance')
    .leftJoin('probes', 'probes.id', 'maintenance.probe_id')
    .leftJoin('sites', (join) =>
      join.on((eb) => eb('sites.id', '=', eb.fn.coalesce('maintenance.site_id', 'probes.site_id'))),
    )
    .select((eb) => ['maintenance.id', eb.fn.coalesce('maintenance.client_id', 'sites.client_id').as('client_id')])
    .where('maintenance.id', 'in', [...ids])
    .execute()

const FINDERS: Readonly<Record<OwnedKind, Find>> = {
  client: async (db, ids) => {
    const rows = await db
      .selectFrom('clients')
      .select('id')
      .where('id', 'in', [...ids])
      .execute()
    return rows.map(({ id }) => ({ id, client_id: id }))
  },
  site: inTable('sites'),
  probe: probes,
  alert: inTable('alerts'),
  incident: inTable('incidents'),
  silence: silences,
  maintenance,
  delivery: inTable('deliveries'),
  annotation: inTable('annotations'),
}

/** Finds the clients that things belong to, by their rows. */
export const createOwners =
  ({ read }: Pick<Store, 'read'>): OwnersOf =>
  async (kind, ids) =>
    new Map((await FINDERS[kind](read, ids)).map(({ id, client_id }) => [id, client_id]))

/**
 * Serialises changes that could remove the last owner, by an update that changes nothing, which locks on both engines.
 *
 * @returns whether an owner of all clients, made so by hand, can sign in. Owners by a group do not count: the identity provider
 * can always make another
 */
export async function lockOwners(trx: Transaction<Tables>, issuers: readonly string[]): Promise<boolean> {
  await trx
    .updateTable('user_roles')
    .set(({ ref }) => ({ role: ref('role') }))
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .execute()
  return hasOwnerByHand(trx, issuers)
}

/** @throws AppError `conflict` when no owner of all clients who can sign in is left */
export async function requireOwnerLeft(trx: Transaction<Tables>, issuers: readonly string[]): Promise<void> {
  if (await hasOwner(trx, issuers)) return
  throw new AppError('conflict', 'At least one owner of all clients who has accepted the invitation must remain')
}

/**
 * Whether an owner of all clients can sign in.
 *
 * @param issuers identity provider and proxy with which people sign in
 */
export const hasOwner = async (db: Kysely<Tables>, issuers: readonly string[]): Promise<boolean> =>
  (await hasOwnerByHand(db, issuers)) || (await hasOwnerByGroups(db, issuers))

/** Counts only those who have accepted: an invitation may have gone to the wrong address, and expires after a week. */
const hasOwnerByHand = async (db: Kysely<Tables>, issuers: readonly string[]): Promise<boolean> => {
  const accepted = ownersByHand(db).where(({ or, eb, exists, selectFrom }) =>
    or([
      eb('password_hash', 'is not', null),
      exists(
        selectFrom('user_identities')
          .select('id')
          .whereRef('user_identities.user_id', '=', 'users.id')
          .where('issuer', 'in', known(issuers)),
      ),
    ]),
  )
  return (await accepted.select('users.id').limit(1).executeTakeFirst()) !== undefined
}

const hasOwnerByGroups = async (db: Kysely<Tables>, issuers: readonly string[]): Promise<boolean> => {
  const owners = ownersByGroups(db).where('issuer', 'in', known(issuers))
  return (await owners.select('users.id').limit(1).executeTakeFirst()) !== undefined
}

/** Never empty, which no list of SQL may be. */
const known = (issuers: readonly string[]): readonly string[] => ['', ...issuers]

/** Owners of all clients whom someone made so. */
export const ownersByHand = (db: Kysely<Tables>) =>
  db
    .selectFrom('users')
    .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)

/** Owners of all clients by their groups at the last sign-in. */
const ownersByGroups = (db: Kysely<Tables>) =>
  db
    .selectFrom('users')
    .innerJoin('user_identities', 'user_identities.user_id', 'users.id')
    .innerJoin('identity_roles', 'identity_roles.identity_id', 'user_identities.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
