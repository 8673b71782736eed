import { type Grants, joined, NO_GRANTS } from '../http/index.ts'
import type { Kysely, Tables, UserRow } from '../store/index.ts'
import { grantsByIdentity } from './roles.ts'

/** How someone signs in, beyond their row in `users`. */
export interface Ways {
  /** Whether an identity provider knows them. */
  hasIdentity: boolean
  /** Roles from their groups there at the last sign-in. */
  byGroups: Grants
  /** Whether signing in with their password also requires a code. */
  hasTwoSteps: boolean
}

export const NO_WAYS: Ways = { hasIdentity: false, byGroups: NO_GRANTS, hasTwoSteps: false }

/** Reads the ways of these users. */
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
  const twoSteps = await db
    .selectFrom('user_two_steps')
    .select('user_id')
    .where('user_id', 'in', [...userIds])
    .where('confirmed_at', 'is not', null)
    .execute()
  const careful = new Set(twoSteps.map(({ user_id }) => user_id))
  const byUser = Map.groupBy(identities, ({ user_id }) => user_id)
  return (userId) => {
    const own = byUser.get(userId) ?? []
    const byGroups = own.map(({ id }) => grants.get(id) ?? NO_GRANTS).reduce(joined, NO_GRANTS)
    return { hasIdentity: own.length > 0, byGroups, hasTwoSteps: careful.has(userId) }
  }
}

/** Whether no one has signed in with the account yet, so that a person with the link of its invitation may. */
export const isInvited = ({ password_hash }: Pick<UserRow, 'password_hash'>, { hasIdentity }: Ways): boolean =>
  password_hash === null && !hasIdentity
