import { emailKey, type Grants, highestRole, joined, NO_GRANTS } from '../../http/index.ts'
import { type Clock, newId } from '../../lib/index.ts'
import { writeAudit } from '../../management/index.ts'
import type { Kysely, Store, Tables, Transaction, UserRow } from '../../store/index.ts'
import { MOST_USERS } from '../invite.ts'
import { grantsByIdentity, grantsByUser, lockGiving, roleChanges, rowsOfGrants } from '../roles.ts'
import { asksForCode } from '../two-step/second-step.ts'
import { lockUser } from '../users.ts'
import type { Assertion } from './claims.ts'
import { SignInFailure } from './failure.ts'
import { type GroupRole, grantsOfGroups, type WarnOfClient } from './group-roles.ts'

/** The actor in the audit log when a sign-in at a provider or a proxy creates or changes an account. */
export const SINGLE_SIGN_ON = 'single sign-on'

export interface IdentityOptions {
  store: Store
  clock: Clock
  groupRoles: readonly GroupRole[]
  /** The actor in the audit log who creates accounts and changes roles. */
  actor: string
  warn: WarnOfClient
}

/** The user and identity that signed in. */
export interface SignedIn {
  userId: string
  identityId: string
}

type Outcome = SignedIn | SignInFailure | 'again'

/**
 * Finds or creates the account of someone whom an issuer vouches for, with the roles that their groups give now:
 *
 * 1. An identity that signed in before belongs to its account, whatever its address is now.
 * 2. A new one joins the account with its verified address, and accepts an invitation that waits there.
 * 3. Without such an account one is created, if the groups give it a role.
 *
 * An unverified address joins nothing and gets nothing: anyone could enter it at the provider and become its owner. Nor does an
 * identity join an account with a second factor, which the provider may not require.
 *
 * @throws SignInFailure
 */
export async function signInIdentity(options: IdentityOptions, assertion: Assertion): Promise<SignedIn> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const outcome = await options.store.write.transaction().execute((trx) => attemptOf(trx, options, assertion))
    if (outcome instanceof SignInFailure) throw outcome
    if (outcome !== 'again') return outcome
  }
  throw new SignInFailure('busy', 'the account is being made by another sign-in')
}

/** Returns a failure instead of throwing it, so that roles that were taken away stay away. */
async function attemptOf(trx: Transaction<Tables>, options: IdentityOptions, assertion: Assertion): Promise<Outcome> {
  const { issuer, subject, groups } = assertion
  // Otherwise the role would outlive a client that is deleted meanwhile.
  if (options.groupRoles.some(({ clients }) => clients !== null)) await lockGiving(trx, options.store)
  const byGroups = await grantsOfGroups(trx, options.groupRoles, groups, options.warn)
  // An update that changes nothing serves as a lock: two simultaneous sign-ins would both write the same roles.
  const identity = await trx
    .updateTable('user_identities')
    .set(({ ref }) => ({ created_at: ref('created_at') }))
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .returning(['id', 'user_id'])
    .executeTakeFirst()
  if (identity === undefined) return firstSignIn(trx, options, assertion, byGroups)
  const user = await trx.selectFrom('users').selectAll().where('id', '=', identity.user_id).executeTakeFirst()
  if (user === undefined) throw new Error('an identity has no account')
  await writeGroupRoles(trx, options, user, identity.id, byGroups)
  if (user.disabled_at !== null) return new SignInFailure('disabled', `the account of ${user.email} is disabled`)
  return (await hasRole(trx, user.id, byGroups)) ? { userId: user.id, identityId: identity.id } : withoutRole(assertion)
}

async function firstSignIn(
  trx: Transaction<Tables>,
  options: IdentityOptions,
  assertion: Assertion,
  byGroups: Grants,
): Promise<Outcome> {
  const { issuer, subject, email } = assertion
  if (email === null)
    return new SignInFailure(
      'email',
      `${subject} has no verified e-mail address: set OIDC_TRUST_EMAIL if the provider does not send email_verified`,
    )
  // Locked, so that the identity of an account that is deleted meanwhile does not stay behind.
  const known = await lockUser(trx, 'email_key', emailKey(email))
  const refusal = known === undefined ? null : await whyNotJoined(trx, known, assertion)
  if (refusal !== null) return refusal
  const hasAny = known === undefined ? highestRole(byGroups) !== null : await hasRole(trx, known.id, byGroups)
  if (!hasAny) return withoutRole(assertion)
  const user = known ?? (await addUser(trx, options, assertion, email))
  if (user === 'again' || user instanceof SignInFailure) return user
  const id = newId()
  const added = await trx
    .insertInto('user_identities')
    .values({ id, user_id: user.id, issuer, subject, created_at: options.clock.now() })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .executeTakeFirst()
  if (added.numInsertedOrUpdatedRows === 0n) return 'again'
  // The invitation is accepted: no one else who has its link may set a password now.
  if (user.password_hash === null) await trx.deleteFrom('user_links').where('user_id', '=', user.id).execute()
  if (known !== undefined) {
    await auditUser(trx, options, user, { single_sign_on: 'none' }, { single_sign_on: `${subject} of ${issuer}` })
  }
  await writeGroupRoles(trx, options, user, id, byGroups)
  return { userId: user.id, identityId: id }
}

/** @returns null when the account may be joined, `again` when another sign-in of this person has joined it meanwhile */
async function whyNotJoined(
  trx: Transaction<Tables>,
  user: UserRow,
  { issuer, subject }: Assertion,
): Promise<SignInFailure | 'again' | null> {
  if (user.disabled_at !== null) return new SignInFailure('disabled', `the account of ${user.email} is disabled`)
  if (await asksForCode(trx, user.id)) {
    return new SignInFailure(
      'two_step',
      `the account of ${user.email} has a second step, which the provider might not ask for`,
    )
  }
  const other = await trx
    .selectFrom('user_identities')
    .select('subject')
    .where('user_id', '=', user.id)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
  if (other === undefined) return null
  if (other.subject === subject) return 'again'
  return new SignInFailure('taken', `the account of ${user.email} belongs to another person at the provider`)
}

/** A name as people may give it themselves (`UserName`): one line, and no half of a character that was cut. */
function nameOf(said: string, email: string): string {
  const name = said.replace(/[\s\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]+/gu, ' ').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(name) ? name : email.split('@', 1).join()
}

async function addUser(
  trx: Transaction<Tables>,
  options: IdentityOptions,
  { issuer, subject, name }: Assertion,
  email: string,
): Promise<UserRow | SignInFailure | 'again'> {
  const { count } = await trx
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) >= MOST_USERS) return new SignInFailure('full', `there are ${MOST_USERS} accounts: delete one`)
  const user: UserRow = {
    id: newId(),
    email,
    email_key: emailKey(email),
    name: nameOf(name ?? '', email),
    password_hash: null,
    created_at: options.clock.now(),
    created_by: options.actor,
    last_sign_in_at: null,
    disabled_at: null,
  }
  const added = await trx
    .insertInto('users')
    .values(user)
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .executeTakeFirst()
  if (added.numInsertedOrUpdatedRows === 0n) return 'again'
  await writeAudit(trx, options, [
    {
      entity: 'user',
      verb: 'create',
      id: user.id,
      before: null,
      after: { email, name: user.name, single_sign_on: `${subject} of ${issuer}` },
    },
  ])
  return user
}

/** Replaces the roles of the previous sign-in; audits only a change. */
async function writeGroupRoles(
  trx: Transaction<Tables>,
  options: IdentityOptions,
  user: UserRow,
  identityId: string,
  after: Grants,
): Promise<void> {
  const before = (await grantsByIdentity(trx, [identityId])).get(identityId) ?? NO_GRANTS
  const changes = roleChanges(before, after)
  if (changes.length === 0) return
  await trx.deleteFrom('identity_roles').where('identity_id', '=', identityId).execute()
  const rows = rowsOfGrants(after).map((row) => ({ identity_id: identityId, ...row }))
  if (rows.length > 0) await trx.insertInto('identity_roles').values(rows).execute()
  for (const { clientId, before: was, after: is } of changes) {
    await auditUser(trx, options, user, { roles_by_groups: was }, { roles_by_groups: is }, { clientId })
  }
}

const auditUser = (
  trx: Transaction<Tables>,
  options: IdentityOptions,
  { id, email }: UserRow,
  before: object,
  after: object,
  ofClient: { clientId?: string | null } = {},
): Promise<void> =>
  writeAudit(trx, options, [
    {
      entity: 'user',
      verb: 'update',
      id,
      ...ofClient,
      before: { email, ...before },
      after: { email, ...after },
    },
  ])

/** Whether the user has any role, by groups or by hand. */
async function hasRole(db: Kysely<Tables>, userId: string, byGroups: Grants): Promise<boolean> {
  const byHand = (await grantsByUser(db, [userId])).get(userId) ?? NO_GRANTS
  return highestRole(joined(byHand, byGroups)) !== null
}

const withoutRole = ({ subject, groups }: Assertion): SignInFailure =>
  new SignInFailure(
    'no_role',
    groups.length === 0
      ? `${subject} has no groups: check that they are sent, and under which name (OIDC_GROUPS_CLAIM, PROXY_GROUPS_HEADER)`
      : `none of the ${groups.length} groups of ${subject} has a role in GROUP_ROLES`,
  )
