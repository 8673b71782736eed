import { type Access, emailKey, type Grants, joined, NO_GRANTS } from '../http/index.ts'
import { AppError, newId } from '../lib/index.ts'
import { type Context, requireRoom } from '../management/index.ts'
import type { Tables, Transaction, UserRow } from '../store/index.ts'
import { auditLink, type NewLink, replaceLinks } from './links.ts'
import { addRoles, grantsOfEntries, lockGiving, managedClients, rolesInWords } from './roles.ts'
import type { InviteUser } from './user-schemas.ts'
import {
  auditUser,
  type FoundUser,
  foundUser,
  lockUser,
  managesAllOf,
  requireEnabled,
  requireGivable,
} from './users.ts'
import { isInvited, NO_WAYS } from './ways.ts'

export const MOST_USERS = 10_000
/** Most people with a role for a client that its owners may invite: otherwise one client's owners could use up all accounts. */
const MOST_OF_CLIENT = 500
/**
 * Most accounts without any role, which only owners of all clients can delete: others can create them by taking away the roles
 * that they gave.
 */
const MOST_WITHOUT_ROLE = 1_000

/** The account, and the link with which its owner accepts the invitation; null when they have accepted. */
type Invited = FoundUser & { link: NewLink | null }

/**
 * Gives someone an account with roles, or adds the roles to an existing account; of two roles for a client the higher one holds.
 *
 * @throws AppError `invalid_request`, `forbidden`; `conflict` when the first account could not manage the service, or the address
 * belongs to a disabled account or to someone invited by others who has not accepted yet
 */
export async function inviteUser(ctx: Context, access: Access, input: InviteUser): Promise<Invited> {
  // Someone else may create the account at the same moment; the second attempt then finds it.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const found = await tryToInvite(ctx, access, input)
    if (found !== null) return found
  }
  throw new AppError('conflict', 'Someone else is inviting this address at the moment: try again')
}

/** @returns null when the account was created meanwhile */
async function tryToInvite(ctx: Context, access: Access, input: InviteUser): Promise<Invited | null> {
  const now = ctx.clock.now()
  const wanted = grantsOfEntries(input.roles)
  const key = emailKey(input.email)
  return ctx.store.write.transaction().execute(async (trx) => {
    await lockGiving(trx, ctx.store)
    await requireGivable(trx, access, input.roles)
    const known = await lockUser(trx, 'email_key', key)
    const found = known === undefined ? null : await foundUser(trx, known)
    const { grants: before, ways } = found ?? { grants: NO_GRANTS, ways: NO_WAYS }
    if (known !== undefined) requireEnabled(known)
    // The person who invited them may hold the link, and would get these roles with it.
    if (known !== undefined && isInvited(known, ways) && !managesAllOf(access, before)) {
      throw new AppError('conflict', 'Someone else invited this address: add roles once they have accepted')
    }
    const row: UserRow = known ?? {
      id: newId(),
      email: input.email.trim(),
      email_key: key,
      name: input.name?.trim() ?? input.email.split('@', 1).join(),
      password_hash: null,
      created_at: now,
      created_by: ctx.actor,
      last_sign_in_at: null,
      disabled_at: null,
    }
    if (known === undefined) {
      await requireAccountRoom(trx, access, wanted)
      const added = await trx
        .insertInto('users')
        .values(row)
        .onConflict((conflict) => conflict.column('email_key').doNothing())
        .executeTakeFirst()
      if (added.numInsertedOrUpdatedRows === 0n) return null
    }
    const after = joined(before, wanted)
    await addRoles(trx, row.id, before, after)
    const link = isInvited(row, ways) ? await replaceLinks(trx, row, now) : null
    const isSame = known !== undefined && rolesInWords(before) === rolesInWords(after)
    if (!isSame) await auditUser(trx, ctx, known === undefined ? 'create' : 'update', row, { before, after })
    else if (link !== null) await auditLink(trx, ctx, row.id)
    return { row, grants: after, ways, link }
  })
}

async function requireAccountRoom(trx: Transaction<Tables>, access: Access, wanted: Grants): Promise<void> {
  const counting = trx.selectFrom('users').select(({ fn }) => fn.countAll<number>().as('count'))
  await requireRoom(counting, MOST_USERS, `There are ${MOST_USERS} accounts: delete one`)
  if (access.role === 'open' && wanted.all !== 'owner') {
    throw new AppError(
      'conflict',
      'The first account must be an owner of all clients: from then on everyone has to sign in',
    )
  }
  if (managedClients(access) === null) return
  await requireRoom(
    counting
      .where('id', 'not in', (db) => db.selectFrom('user_roles').select('user_id'))
      .where('id', 'not in', (db) => db.selectFrom('user_identities').select('user_id')),
    MOST_WITHOUT_ROLE,
    `${MOST_WITHOUT_ROLE} accounts have no role: an owner of all clients must delete some`,
  )
  const full = await trx
    .selectFrom('user_roles')
    .select('client_id')
    .where('client_id', 'in', [...wanted.clients.keys()])
    .groupBy('client_id')
    .having(({ fn }) => fn.countAll(), '>=', MOST_OF_CLIENT)
    .executeTakeFirst()
  if (full !== undefined)
    throw new AppError('conflict', `${MOST_OF_CLIENT} people have a role for the client: remove one`)
}
