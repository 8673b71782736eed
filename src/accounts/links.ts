import { type Clock, DAY, HOUR, hashOf, isoTime, MINUTE, newSecret, notFound } from '../lib/index.ts'
import { type Context, writeAudit } from '../management/index.ts'
import { composeNotice, type Mailer } from '../notifications/index.ts'
import type { Kysely, Store, Tables, UserRow } from '../store/index.ts'
import type { PasswordLink } from './user-schemas.ts'
import { waysOf } from './ways.ts'

/** A week, because an invitation may have to wait for someone on holiday. */
export const INVITATION_MS = 7 * DAY
/** An hour is enough, because the person who requested it is at the screen. */
export const RESET_MS = HOUR
/** Shortest time between two links that a stranger may have requested, ms. */
const ASK_AGAIN_MS = 5 * MINUTE
const ATTEMPT_MS = 30_000

/** What links need besides the store. */
export interface LinkOptions {
  clock: Clock
  /** Null where e-mail is not set up. */
  mailer: Mailer | null
  /** Where people reach the service, without a trailing slash. */
  publicUrl: () => string
}

type Linked = Pick<UserRow, 'id' | 'email' | 'name' | 'password_hash'>

/** Stores a link that sets the user's password and returns its secret. */
export async function writeLink(db: Kysely<Tables>, userId: string, now: number, lastsMs: number): Promise<string> {
  const secret = newSecret()
  await db.deleteFrom('user_links').where('expires_at', '<=', now).execute()
  await db
    .insertInto('user_links')
    .values({ id: hashOf(secret), user_id: userId, created_at: now, expires_at: now + lastsMs })
    .execute()
  return secret
}

/** The secret follows the `#`, which browsers send to no server, so that it ends up in no log. */
export const addressOfLink = (publicUrl: string, secret: string): string => `${publicUrl}/welcome#${secret}`

/**
 * Replaces all of a user's links by a new one and returns it for the inviter; also e-mails it where e-mail is set up.
 *
 * @param noted who makes it, for the audit log, because anyone who has the link can become the user; null when the log has an
 * entry already
 */
export async function replaceLink(
  { write }: Pick<Store, 'write'>,
  options: LinkOptions,
  user: Linked,
  invitedBy: string | null,
  noted: Context | null,
): Promise<PasswordLink> {
  const now = options.clock.now()
  const lastsMs = user.password_hash === null ? INVITATION_MS : RESET_MS
  const secret = await write.transaction().execute(async (trx) => {
    await trx.deleteFrom('user_links').where('user_id', '=', user.id).execute()
    if (noted !== null) {
      const [before, after] = [{ password_link: 'as before' }, { password_link: 'made' }]
      const change = { entity: 'user', verb: 'update', id: user.id, before, after } as const
      await writeAudit(trx, noted, [change])
    }
    return writeLink(trx, user.id, now, lastsMs)
  })
  const mailed = await mailLink(options, user, secret, now, invitedBy)
  return { url: addressOfLink(options.publicUrl(), secret), expires_at: isoTime(now + lastsMs), mailed }
}

/** E-mails a link to the owner of the address's account; does nothing when there is none. */
export async function mailResetLink(store: Store, options: LinkOptions, email: string): Promise<void> {
  const user = await store.read
    .selectFrom('users')
    .select(['id', 'email', 'name', 'password_hash'])
    .where('email_key', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (user === undefined) return
  // Someone who signs in only with the identity provider would get another way in, unknown to the provider.
  if (user.password_hash === null && (await waysOf(store.read, [user.id]))(user.id).hasIdentity) return
  const now = options.clock.now()
  const recent = await store.read
    .selectFrom('user_links')
    .select('id')
    .where('user_id', '=', user.id)
    .where('created_at', '>', now - ASK_AGAIN_MS)
    .executeTakeFirst()
  if (recent !== undefined) return
  const lastsMs = user.password_hash === null ? INVITATION_MS : RESET_MS
  await mailLink(options, user, await writeLink(store.write, user.id, now, lastsMs), now, null)
}

/** @returns whether the mail server accepted it */
async function mailLink(
  { mailer, publicUrl }: LinkOptions,
  { email, id, password_hash }: Linked,
  secret: string,
  now: number,
  invitedBy: string | null,
): Promise<boolean> {
  if (mailer === null) return false
  const url = addressOfLink(publicUrl(), secret)
  const content = password_hash === null ? invitationMail(url, invitedBy) : resetMail(url)
  const { kind } = await mailer.send(
    // The hash, so that the id of the e-mail does not contain the secret.
    { ...content, to: [email], at: now, id: hashOf(secret), thread: null, list: id },
    AbortSignal.timeout(ATTEMPT_MS),
  )
  return kind === 'delivered'
}

const invitationMail = (url: string, invitedBy: string | null) =>
  composeNotice({
    subject: 'You are invited to Tagwarden',
    lines: [
      invitedBy === null
        ? 'You have been invited to Tagwarden, which watches the tags of websites.'
        : `${invitedBy} invites you to Tagwarden, which watches the tags of websites.`,
      'Choose a password to begin. The link works once, within 7 days.',
    ],
    link: { label: 'Choose a password', url },
    footer: { text: 'If you did not expect this, you can ignore it.' },
  })

const resetMail = (url: string) =>
  composeNotice({
    subject: 'Choose a new Tagwarden password',
    lines: [
      'Someone, probably you, asked for a new password.',
      'The link works once, within an hour. If it was not you, do nothing: your password stays as it is.',
    ],
    link: { label: 'Choose a new password', url },
    footer: { text: 'Sent by Tagwarden.' },
  })

/**
 * The user of a valid link. @throws AppError `not_found` when it was used, replaced, has expired or never existed; it does not
 * say which
 */
export async function userOfLink(db: Kysely<Tables>, secret: string, now: number) {
  const found = await db
    .selectFrom('user_links')
    .innerJoin('users', 'users.id', 'user_links.user_id')
    .select(['users.id', 'users.email', 'users.name', 'users.password_hash', 'user_links.expires_at'])
    .where('user_links.id', '=', hashOf(secret))
    .where('user_links.expires_at', '>', now)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  if (found === undefined) throw notFound('Link')
  return found
}
