import { type Grants, joined, NO_GRANTS } from '../http/index.ts'
import type { Kysely, Tables, UserRow } from '../store/index.ts'
import { grantsByIdentity } from './roles.ts'

/** How someone signs in besides with a password. */
export interface Ways {
  /** An identity provider knows them. */
  hasIdentity: boolean
  /** What their groups there gave them at the last sign-in. */
  byGroups: Grants
}

const NO_WAYS: Ways = { hasIdentity: false, byGroups: NO_GRANTS }

/** Of each of the users. */
export async function waysOf(db: Kysely<Tables>, userIds: readonly string[]): Promise<(userId: string) => Ways> {
  if (userIds.length === 0) return () => NO_WAYS
  const identities = await db
    .selectFrom('user_identities')
    .select(['id', 'user_id'])
    .where('user_id', 'in', [...userIds])
    .execute()
  const grants = await grantsByIdentity(
    db,
    identities.map(({ id }) => id),
  )
  const byUser = Map.groupBy(identities, ({ user_id }) => user_id)
  return (userId) => {
    const own = byUser.get(userId)
    if (own === undefined) return NO_WAYS
    const byGroups = own.map(({ id }) => grants.get(id) ?? NO_GRANTS).reduce(joined, NO_GRANTS)
    return { hasIdentity: true, byGroups }
  }
}

/** Whether no one has signed in with the account yet, so that whoever holds the link of the invitation may. */
export const isInvited = ({ password_hash }: Pick<UserRow, 'password_hash'>, { hasIdentity }: Ways): boolean =>
  password_hash === null && !hasIdentity
