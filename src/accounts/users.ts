import { type Access, type Grants, joined, NO_GRANTS, roleFor, type Visible } from '../http/index.ts'
import { AppError, invalidRequest, notFound } from '../lib/index.ts'
import { type Context, onlyClientOf, removeViewsOf, writeAudit } from '../management/index.ts'
import type { Kysely, Tables, Transaction, UserRow } from '../store/index.ts'
import { lockOwners, requireOwnerLeft } from './owners.ts'
import {
  ALL_CLIENTS,
  entriesOf,
  grantsByUser,
  grantsOfEntries,
  lockGiving,
  managedClients,
  type RoleEntry,
  roleChanges,
  roleInWords,
  rolesInWords,
  writeRoles,
} from './roles.ts'
import { requireClients } from './tokens.ts'
import { removeTwoStep } from './two-step/second-step.ts'
import { type UpdateUser, type UserRecord, userRecord } from './user-schemas.ts'
import { isInvited, type Ways, waysOf } from './ways.ts'

/** A user with all grants, not limited to what the caller manages. */
export interface FoundUser {
  row: UserRow
  /** Roles that people gave them; those from groups are in `ways`. */
  grants: Grants
  ways: Ways
}

/** The record as the caller may see it. */
export const recordOf = ({ row, grants, ways }: FoundUser, managed: Visible): UserRecord =>
  userRecord(row, within(grants, managed), { ...ways, byGroups: within(ways.byGroups, managed) })

/** The part of the grants that the caller may see and give. */
export function within(grants: Grants, managed: Visible): Grants {
  if (managed === null) return grants
  return { all: null, clients: new Map([...grants.clients].filter(([id]) => managed.includes(id))) }
}

/** @throws AppError `not_found`, also when the user has no role that the caller manages */
export async function requireUser(db: Kysely<Tables>, access: Access, id: string): Promise<FoundUser> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('User')
  const found = await foundUser(db, row)
  const managed = managedClients(access)
  const mayDo = joined(found.grants, found.ways.byGroups)
  if (managed !== null && within(mayDo, managed).clients.size === 0) throw notFound('User')
  return found
}

export const foundUser = async (db: Kysely<Tables>, row: UserRow): Promise<FoundUser> => ({
  row,
  grants: (await grantsByUser(db, [row.id])).get(row.id) ?? NO_GRANTS,
  ways: (await waysOf(db, [row.id]))(row.id),
})

/**
 * Reads an account and locks it until the transaction ends; undefined when there is none. A caller that also changes roles locks
 * the account first.
 */
export const lockUser = (
  trx: Transaction<Tables>,
  by: 'id' | 'email_key',
  value: string,
): Promise<UserRow | undefined> =>
  trx
    .updateTable('users')
    .set(({ ref }) => ({ name: ref('name') }))
    .where(by, '=', value)
    .returningAll()
    .executeTakeFirst()

/** @throws AppError `not_found`, or `forbidden` for callers who manage only some clients */
export async function requireManaged(db: Kysely<Tables>, access: Access, id: string): Promise<void> {
  await requireUser(db, access, id)
  if (managedClients(access) !== null) throw new AppError('forbidden', 'Only an owner of all clients may do this')
}

/** Whether the caller may give every role that the user has, and so may act for them. */
export function managesAllOf(access: Access, { all, clients }: Grants): boolean {
  const managed = managedClients(access)
  return managed === null || (all === null && [...clients.keys()].every((id) => managed.includes(id)))
}

/** @throws AppError `invalid_request` or `forbidden` when the caller may not give a role; clients that they cannot see seem not to exist */
export async function requireGivable(db: Kysely<Tables>, access: Access, entries: readonly RoleEntry[]): Promise<void> {
  const managed = managedClients(access)
  const seen = new Set<string>()
  for (const [at, { client_id }] of entries.entries()) {
    const path = `/roles/${at}/client_id`
    if (seen.has(client_id ?? ALL_CLIENTS)) throw invalidRequest(path, 'is given twice')
    seen.add(client_id ?? ALL_CLIENTS)
    if (managed === null) continue
    if (client_id === null)
      throw new AppError('forbidden', 'Only an owner of all clients can give a role for every client')
    if (managed.includes(client_id)) continue
    if (roleFor(access.grants, client_id) === null) throw invalidRequest(path, 'is not the id of a client')
    throw new AppError('forbidden', 'Only an owner of the client can give roles for it')
  }
  const ids = entries.flatMap(({ client_id }) => client_id ?? [])
  await requireClients(db, ids, '/roles')
}

/** @throws AppError `not_found`, `invalid_request`, `forbidden`; `conflict` when no owner would be left */
export async function updateUser(
  ctx: Context,
  access: Access,
  id: string,
  input: UpdateUser,
  issuers: readonly string[],
): Promise<FoundUser> {
  const managed = managedClients(access)
  return ctx.store.write.transaction().execute(async (trx) => {
    if (input.roles !== undefined) await lockGiving(trx, ctx.store)
    await lockUser(trx, 'id', id)
    const hadOwner = await lockOwners(trx, issuers)
    const { row: before, grants, ways } = await requireUser(trx, access, id)
    if (managed !== null && (input.name !== undefined || input.is_active !== undefined)) {
      throw new AppError('forbidden', 'Only an owner of all clients can change the account itself')
    }
    const row: UserRow = {
      ...before,
      name: input.name?.trim() ?? before.name,
      disabled_at: disabledAt(before, input.is_active, ctx.clock.now()),
    }
    await trx.updateTable('users').set({ name: row.name, disabled_at: row.disabled_at }).where('id', '=', id).execute()
    const after =
      input.roles === undefined ? grants : await changedRoles(trx, access, { row, grants, ways }, input.roles)
    if (hadOwner) await requireOwnerLeft(trx, issuers)
    if (row.disabled_at !== null) await trx.deleteFrom('sign_ins').where('user_id', '=', id).execute()
    // Otherwise inviting and taking back repeatedly would use up everyone's accounts. Disabled accounts stay.
    const isNoOnes = entriesOf(after).length === 0 && isInvited(row, ways) && row.disabled_at === null
    const isRemoved = managed !== null && isNoOnes
    if (isRemoved) await removeAccount(trx, id)
    const isChanged =
      row.name !== before.name || row.disabled_at !== before.disabled_at || rolesInWords(after) !== rolesInWords(grants)
    if (isRemoved || isChanged) {
      await auditUser(trx, ctx, isRemoved ? 'delete' : 'update', row, { before: grants, after }, before)
    }
    return { row, grants: after, ways }
  })
}

const disabledAt = ({ disabled_at }: UserRow, isActive: boolean | undefined, now: number): number | null => {
  if (isActive === undefined) return disabled_at
  return isActive ? null : (disabled_at ?? now)
}

async function changedRoles(
  trx: Transaction<Tables>,
  access: Access,
  { row, grants, ways }: FoundUser,
  entries: readonly RoleEntry[],
): Promise<Grants> {
  const managed = managedClients(access)
  await requireGivable(trx, access, entries)
  const wanted = grantsOfEntries(entries)
  const isNew = [...wanted.clients.keys()].some((id) => !grants.clients.has(id))
  if (isInvited(row, ways) && isNew && !managesAllOf(access, grants)) {
    throw new AppError('conflict', 'Someone else invited this person: change roles once they have accepted')
  }
  await writeRoles(trx, row.id, wanted, managed)
  if (managed === null) return wanted
  const kept = [...grants.clients].filter(([id]) => !managed.includes(id))
  return { all: grants.all, clients: new Map([...kept, ...wanted.clients]) }
}

/** @throws AppError `not_found`, `forbidden`; `conflict` when no owner would be left */
export async function deleteUser(ctx: Context, access: Access, id: string, issuers: readonly string[]): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    await lockUser(trx, 'id', id)
    const hadOwner = await lockOwners(trx, issuers)
    const { row, grants } = await requireUser(trx, access, id)
    if (managedClients(access) !== null) {
      throw new AppError('forbidden', 'Only an owner of all clients can delete accounts: remove the roles instead')
    }
    await removeAccount(trx, id)
    if (hadOwner) await requireOwnerLeft(trx, issuers)
    await auditUser(trx, ctx, 'delete', row, { before: grants, after: NO_GRANTS })
  })
}

async function removeAccount(trx: Transaction<Tables>, id: string): Promise<void> {
  await trx.deleteFrom('user_roles').where('user_id', '=', id).execute()
  await trx.deleteFrom('user_links').where('user_id', '=', id).execute()
  await removeIdentities(trx, id)
  await removeTwoStep(trx, id)
  await removeViewsOf(trx, id)
  await trx.deleteFrom('sign_ins').where('user_id', '=', id).execute()
  await trx.deleteFrom('users').where('id', '=', id).execute()
}

/** The identity before its roles, the order in which a sign-in locks them. */
async function removeIdentities(trx: Transaction<Tables>, userId: string): Promise<void> {
  const removed = await trx.deleteFrom('user_identities').where('user_id', '=', userId).returning('id').execute()
  const ids = removed.map(({ id }) => id)
  if (ids.length > 0) await trx.deleteFrom('identity_roles').where('identity_id', 'in', ids).execute()
}

interface ChangedGrants {
  before: Grants
  after: Grants
}

/**
 * Audits what changes for each client in an entry of that client, which its owners can read. What changes of the account itself is
 * in the entry of its only client, and otherwise in one without a client.
 */
export async function auditUser(
  trx: Transaction<Tables>,
  ctx: Context,
  verb: 'create' | 'update' | 'delete',
  row: UserRow,
  { before, after }: ChangedGrants,
  beforeRow: UserRow = row,
): Promise<void> {
  const roles = roleChanges(before, after)
  const isAboutAccount = row.name !== beforeRow.name || row.disabled_at !== beforeRow.disabled_at
  const own = await onlyClientOf(trx, row.id)
  const ofAccount = { clientId: own, before: roleInWords(before, own), after: roleInWords(after, own) }
  const isMissing = (isAboutAccount && !roles.some(({ clientId }) => clientId === own)) || roles.length === 0
  await writeAudit(
    trx,
    ctx,
    (isMissing ? [ofAccount, ...roles] : roles).map(({ clientId, before: was, after: is }) => ({
      entity: 'user',
      verb,
      id: row.id,
      clientId,
      before: verb === 'create' ? null : audited(clientId === own ? beforeRow : row, was),
      after: verb === 'delete' ? null : audited(row, is),
    })),
  )
}

const audited = (row: UserRow, roles: string) => ({
  email: row.email,
  name: row.name,
  is_active: row.disabled_at === null,
  roles,
})

/** @throws AppError `conflict` when the account is disabled, as its link would not work */
export function requireEnabled({ disabled_at }: UserRow): void {
  if (disabled_at !== null) throw new AppError('conflict', 'The account is disabled: enable it first')
}

/** Whether the caller may get a link that sets this user's password. */
export const mayHandOutLink = (access: Access, { row, grants, ways }: FoundUser): boolean =>
  managedClients(access) === null || (isInvited(row, ways) && managesAllOf(access, grants))
