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

/** Finds whose things are, by the rows that hold them. */
export const createOwners =
  ({ read }: Pick<Store, 'read'>): OwnersOf =>
  async (kind, ids) =>
    new Map((await FINDERS[kind](read, ids)).map(({ id, client_id }) => [id, client_id]))

/**
 * Has changes that could take the last owner away wait for one another; an update that changes nothing is the lock of both engines.
 *
 * @returns whether someone who was made owner of all clients has accepted. Who is one by a group is not meant: the identity provider can always make another
 */
export async function lockOwners(trx: Transaction<Tables>): Promise<boolean> {
  await trx
    .updateTable('user_roles')
    .set(({ ref }) => ({ role: ref('role') }))
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .execute()
  return hasOwnerByHand(trx)
}

/** @throws AppError `conflict` when no one is left who owns all clients and can sign in */
export async function requireOwnerLeft(trx: Transaction<Tables>): Promise<void> {
  if ((await hasOwnerByHand(trx)) || (await hasOwnerByGroups(trx))) return
  throw new AppError('conflict', 'At least one person who owns all clients and has accepted the invitation must remain')
}

/** Of those who have accepted: an invitation may have gone to the wrong address, and ends after a week. */
const hasOwnerByHand = async (db: Kysely<Tables>): Promise<boolean> => {
  const accepted = ownersByHand(db).where(({ or, eb, exists, selectFrom }) =>
    or([
      eb('password_hash', 'is not', null),
      exists(selectFrom('user_identities').select('id').whereRef('user_identities.user_id', '=', 'users.id')),
    ]),
  )
  return (await accepted.select('users.id').limit(1).executeTakeFirst()) !== undefined
}

const hasOwnerByGroups = async (db: Kysely<Tables>): Promise<boolean> =>
  (await ownersByGroups(db).select('users.id').limit(1).executeTakeFirst()) !== undefined

/** Those whom someone made owners of all clients. */
export const ownersByHand = (db: Kysely<Tables>) =>
  db
    .selectFrom('users')
    .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)

/** Those whose groups made them so at their last sign-in. */
export const ownersByGroups = (db: Kysely<Tables>) =>
  db
    .selectFrom('users')
    .innerJoin('user_identities', 'user_identities.user_id', 'users.id')
    .innerJoin('identity_roles', 'identity_roles.identity_id', 'user_identities.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
