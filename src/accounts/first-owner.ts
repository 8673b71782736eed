import { emailKey, NO_GRANTS } from '../http/index.ts'
import { type Clock, newId } from '../lib/index.ts'
import { writeAudit } from '../management/index.ts'
import type { Kysely, Store, Tables, Transaction, UserRow } from '../store/index.ts'
import { addressOfLink, INVITATION_MS, writeLink } from './links.ts'
import { hasOwner, ownersByHand } from './owners.ts'
import { addRoles, grantsByUser, rolesInWords } from './roles.ts'
import { lockUser } from './users.ts'

/**
 * Makes a link for a first owner when no one could manage the service: there is no key, and no owner of all clients who can sign
 * in.
 *
 * @param adminEmail the address of the account; null for an owner who was invited and has not accepted yet
 * @param issuers identity provider and proxy with which people sign in
 * @returns the link, or null when it is not needed
 */
export async function firstOwnerLink(
  { store, clock }: { store: Store; clock: Clock },
  adminEmail: string | null,
  publicUrl: string,
  issuers: readonly string[] = [],
): Promise<{ email: string; url: string } | null> {
  if (await hasOwner(store.read, issuers)) return null
  const email = adminEmail ?? (await oldestOwner(store.read))?.email
  if (email === undefined) return null
  const now = clock.now()
  const secret = await store.write.transaction().execute(async (trx) => {
    const user = await ownerWith(trx, clock, email)
    return writeLink(trx, user.id, now, INVITATION_MS)
  })
  return { email, url: addressOfLink(publicUrl, secret) }
}

const oldestOwner = (db: Kysely<Tables>) =>
  ownersByHand(db).select('email').orderBy('users.created_at').limit(1).executeTakeFirst()

/** The address's account, made an owner of all clients. */
async function ownerWith(trx: Transaction<Tables>, clock: Clock, email: string): Promise<Pick<UserRow, 'id'>> {
  const made: UserRow = {
    id: newId(),
    email,
    email_key: emailKey(email),
    name: email.split('@', 1).join(),
    password_hash: null,
    created_at: clock.now(),
    created_by: 'the start',
    last_sign_in_at: null,
    disabled_at: null,
  }
  // Nodes that start at the same time make only one account.
  await trx
    .insertInto('users')
    .values(made)
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .execute()
  const user = await lockUser(trx, 'email_key', made.email_key)
  if (user === undefined) throw new Error('the account of the first owner is gone')
  const { id, disabled_at } = user
  const grants = (await grantsByUser(trx, [id])).get(id) ?? NO_GRANTS
  const owned = { ...grants, all: 'owner' } as const
  await trx.updateTable('users').set({ disabled_at: null }).where('id', '=', id).execute()
  await addRoles(trx, id, grants, owned)
  const before = { email: user.email, is_active: disabled_at === null, roles: rolesInWords(grants) }
  const after = { ...before, is_active: true, roles: rolesInWords(owned) }
  // Each start makes a link, but only the first one changes the account.
  if (before.is_active && before.roles === after.roles) return user
  const change = id === made.id ? ({ verb: 'create', before: null } as const) : ({ verb: 'update', before } as const)
  await writeAudit(trx, { clock, actor: made.created_by }, [{ entity: 'user', id, after, ...change }])
  return user
}
