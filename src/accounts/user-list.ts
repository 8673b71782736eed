import { type Access, type ListQuery, NO_GRANTS, type Page, pageOfIds, unknownAfter } from '../http/index.ts'
import type { Store } from '../store/index.ts'
import { grantsByUser, managedClients } from './roles.ts'
import type { UserRecord } from './user-schemas.ts'
import { recordOf } from './users.ts'
import { waysOf } from './ways.ts'

/**
 * The ids of people with a role that the caller manages, oldest first.
 *
 * @throws AppError `invalid_request` when `after` is not the id of one of them
 */
export async function userIds(
  { read }: Pick<Store, 'read'>,
  access: Access,
  { after, limit }: ListQuery,
): Promise<Page<string>> {
  const managed = managedClients(access)
  let query = read.selectFrom('users').orderBy('created_at').orderBy('id')
  if (managed !== null) {
    query = query.where(({ or, eb, selectFrom }) =>
      or([
        eb(
          'id',
          'in',
          selectFrom('user_roles')
            .select('user_id')
            .where('client_id', 'in', [...managed]),
        ),
        eb(
          'id',
          'in',
          selectFrom('identity_roles')
            .innerJoin('user_identities', 'user_identities.id', 'identity_roles.identity_id')
            .select('user_identities.user_id')
            .where('client_id', 'in', [...managed]),
        ),
      ]),
    )
  }
  if (after !== undefined) {
    const last = await query.select(['created_at', 'id']).where('id', '=', after).executeTakeFirst()
    if (last === undefined) throw unknownAfter('a user')
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '>', tuple(last.created_at, last.id)),
    )
  }
  if (limit !== undefined) query = query.limit(limit + 1)
  return pageOfIds(await query.select('id').execute(), limit)
}

/** These people, oldest first, showing only roles that the caller manages. */
export async function usersOf(
  { read }: Pick<Store, 'read'>,
  access: Access,
  ids: readonly string[],
): Promise<UserRecord[]> {
  const managed = managedClients(access)
  const rows = await read
    .selectFrom('users')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const grants = await grantsByUser(read, ids)
  const ways = await waysOf(read, ids)
  return rows.map((row) => recordOf({ row, grants: grants.get(row.id) ?? NO_GRANTS, ways: ways(row.id) }, managed))
}
