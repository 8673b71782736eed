import { AppError } from '../lib/index.ts'
import type { Kysely, Tables, Transaction } from '../store/index.ts'
import { ALL_CLIENTS } from './roles.ts'

/**
 * Has changes that could take the last owner away wait for one another; an update that changes nothing is the lock of both engines.
 *
 * @returns whether someone was made owner of all clients. Who is one by a group is not meant: the identity provider can always make another
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

/** @throws AppError `conflict` when no one is left who owns all clients */
export async function requireOwnerLeft(trx: Transaction<Tables>): Promise<void> {
  if ((await hasOwnerByHand(trx)) || (await hasOwnerByGroups(trx))) return
  throw new AppError('conflict', 'Someone has to be left who owns all clients')
}

async function hasOwnerByHand(db: Kysely<Tables>): Promise<boolean> {
  const owner = await db
    .selectFrom('users')
    .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
    .select('users.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

async function hasOwnerByGroups(db: Kysely<Tables>): Promise<boolean> {
  const owner = await db
    .selectFrom('users')
    .innerJoin('user_identities', 'user_identities.user_id', 'users.id')
    .innerJoin('identity_roles', 'identity_roles.identity_id', 'user_identities.id')
    .select('users.id')
    .where('client_id', '=', ALL_CLIENTS)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}
