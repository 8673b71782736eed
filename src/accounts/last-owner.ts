import { AppError } from '../lib/index.ts'
import type { Kysely, Tables, Transaction } from '../store/index.ts'
import { ALL_CLIENTS } from './roles.ts'

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
  throw new AppError('conflict', 'Someone has to be left who owns all clients and has accepted the invitation')
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
