import { type Clock, DAY, HOUR, hashOf, isoTime, MINUTE, newSecret, notFound } from '../lib/index.ts'
import { type Context, writeAudit } from '../management/index.ts'
import { composeNotice, type Mailer } from '../notifications/index.ts'
import type { Kysely, Store, Tables, Transaction, UserRow } from '../store/index.ts'
import type { PasswordLink } from './user-schemas.ts'
import { lockUser } from './users.ts'
import { waysOf } from './ways.ts'

/** A week, because an invitation may have to wait for someone on holiday. */
export const INVITATION_MS = 7 * DAY
/** An hour is enough, because the person who requested it is at the screen. */
const RESET_MS = HOUR
/** Shortest time between two links that a stranger may have requested, ms. */
const ASK_AGAIN_MS = 5 * MINUTE
/** Valid links of an account from which on a stranger can request no more: the account's owner has received these. */
const MOST_ASKED = 3
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

/** A link that no one has yet. */
export interface NewLink {
  user: Linked
  secret: string
  at: number
  lastsMs: number
}

async function newLink(db: Kysely<Tables>, user: Linked, at: number): Promise<NewLink> {
  const lastsMs = user.password_hash === null ? INVITATION_MS : RESET_MS
  return { user, secret: await writeLink(db, user.id, at, lastsMs), at, lastsMs }
}

/** Replaces all links of a user, who is locked: who may get the new one depends on what their account is now. */
export async function replaceLinks(trx: Transaction<Tables>, user: Linked, at: number): Promise<NewLink> {
  await trx.deleteFrom('user_links').where('user_id', '=', user.id).execute()
  return newLink(trx, user, at)
}

/** Notes who made a link in the audit log, because anyone who has it can become the user. */
export async function auditLink(trx: Transaction<Tables>, ctx: Context, userId: string): Promise<void> {
  const [before, after] = [{ password_link: 'as before' }, { password_link: 'made' }]
  await writeAudit(trx, ctx, [{ entity: 'user', verb: 'update', id: userId, before, after }])
}

/** Returns a link for the person who made it; also e-mails it where e-mail is set up. */
export async function handOut(options: LinkOptions, link: NewLink, invitedBy: string | null): Promise<PasswordLink> {
  const mailed = await mailLink(options, link, invitedBy)
  const { secret, at, lastsMs } = link
  return { url: addressOfLink(options.publicUrl(), secret), expires_at: isoTime(at + lastsMs), mailed }
}

/** E-mails a link to the owner of the address's account; does nothing when there is none. */
export async function mailResetLink({ write }: Pick<Store, 'write'>, options: LinkOptions, email: string) {
  const link = await write.transaction().execute(async (trx) => {
    // Of several requests at once only the first sends a link.
    const user = await lockUser(trx, 'email_key', email)
    if (user === undefined || user.disabled_at !== null) return null
    // Someone who signs in only with the identity provider would get another way in, unknown to the provider.
    if (user.password_hash === null && (await waysOf(trx, [user.id]))(user.id).hasIdentity) return null
    const now = options.clock.now()
    const valid = await trx
      .selectFrom('user_links')
      .select('created_at')
      .where('user_id', '=', user.id)
      .where('expires_at', '>', now)
      .execute()
    const isRecent = valid.some(({ created_at }) => created_at > now - ASK_AGAIN_MS)
    return isRecent || valid.length >= MOST_ASKED ? null : newLink(trx, user, now)
  })
  if (link !== null) await mailLink(options, link, null)
}

/** @returns whether the mail server accepted it */
async function mailLink(
  { mailer, publicUrl }: LinkOptions,
  { user: { email, id, password_hash }, secret, at }: NewLink,
  invitedBy: string | null,
): Promise<boolean> {
  if (mailer === null) return false
  const url = addressOfLink(publicUrl(), secret)
  const content = password_hash === null ? invitationMail(url, invitedBy) : resetMail(url)
  const { kind } = await mailer.send(
    // The hash, so that the id of the e-mail does not contain the secret.
    { ...content, to: [email], at, id: hashOf(secret), thread: null, list: id },
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
