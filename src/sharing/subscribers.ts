import { AppError, DAY, HOUR, hashOf, MINUTE, newOrderedId, newSecret, notFound } from '../lib/index.ts'
import { type Context, writeAudit } from '../management/index.ts'
import type { Kysely, StatusSubscriberRow, Store, Tables } from '../store/index.ts'

/** Subscribers of a page: beyond this mail servers may take the sender for a spammer. */
const MOST = 1_000
/** Subscribers of a page who wait for the e-mail that asks to confirm. One more takes the place of the one that has waited longest. */
const MOST_WAITING = 100
/** Unconfirmed addresses of one mailbox, which may have any number of them: `me+1@example.com`. */
const MOST_OF_MAILBOX = 3
/** An address that is not confirmed within this time is forgotten, ms. */
const UNCONFIRMED_MS = 2 * DAY
/** The e-mail that asks to confirm is sent again on request, but at most this often, ms. */
const ASK_AGAIN_MS = HOUR
/** An address that was last asked later than this after the first time is not asked again, ms: at most three e-mails in all. */
const LAST_ASKED_AFTER_MS = 2 * HOUR
/** An unconfirmed address is not asked again for this time, ms, because anyone can enter anyone's address over and over. */
const LEFT_ALONE_MS = 30 * DAY

/** Returns the hash that replaces an unconfirmed address, so that it is forgotten but can be recognised. */
const forgotten = (clientId: string, email: string): string => `${FORGOTTEN}${hashOf(`${clientId} ${email}`)}`
export const FORGOTTEN = 'forgotten:'

/** The same for one that the mail server refused. It is kept only as long as others may wait, because the server may know it later. */
const refused = (clientId: string, email: string): string => `${REFUSED}${hashOf(`${clientId} ${email}`)}`
export const REFUSED = `${FORGOTTEN}refused:`

/** Returns the address without the tag that many servers ignore. */
const mailboxOf = (email: string): string =>
  email
    .split('@')
    .map((part) => part.split('+')[0])
    .join('@')

/**
 * Records that someone wants e-mail about a status page. Only an e-mail that asks to confirm follows. A confirmed address gets
 * none, nor does a mailbox that was asked under several addresses, and the caller does not learn that it was known.
 *
 * @throws AppError `conflict` when too many have subscribed
 */
export async function subscribe(
  { write }: Pick<Store, 'write'>,
  client: { id: string; token: string },
  address: string,
  now: number,
): Promise<void> {
  const email = address.trim().toLowerCase()
  await write.transaction().execute(async (trx) => {
    const ofPage = trx
      .selectFrom('status_subscribers')
      .select(['id', 'email', 'asked_at', 'confirmed_at', 'created_at'])
      .where('client_id', '=', client.id)
      .where('token', '=', client.token)
    const spellings = [email, forgotten(client.id, email), refused(client.id, email)]
    const known = await ofPage.where('email', 'in', spellings).executeTakeFirst()
    if (known !== undefined) {
      const { asked_at, confirmed_at, created_at } = known
      const isDue = asked_at !== null && asked_at < Math.min(now - ASK_AGAIN_MS, created_at + LAST_ASKED_AFTER_MS)
      if (confirmed_at === null && isDue)
        await trx.updateTable('status_subscribers').set({ asked_at: null }).where('id', '=', known.id).execute()
      return
    }
    const since = now - UNCONFIRMED_MS
    const there = await ofPage
      .where(({ or, eb }) => or([eb('confirmed_at', 'is not', null), eb('created_at', '>=', since)]))
      .orderBy('id')
      .execute()
    const unconfirmed = there.filter(({ confirmed_at }) => confirmed_at === null)
    if (there.length - unconfirmed.length >= MOST) {
      throw new AppError('conflict', 'Too many people have subscribed to this page: use its feed')
    }
    if (unconfirmed.filter((other) => mailboxOf(other.email) === mailboxOf(email)).length >= MOST_OF_MAILBOX) return
    // Refusing instead would let invented addresses close the page to everyone else.
    const waiting = unconfirmed.filter(({ asked_at }) => asked_at === null)
    const [longest] = waiting
    if (longest !== undefined && waiting.length >= MOST_WAITING)
      await trx.deleteFrom('status_subscribers').where('id', '=', longest.id).execute()
    // A subscription to a link that was since revoked is useless.
    await trx
      .deleteFrom('status_subscribers')
      .where('client_id', '=', client.id)
      .where('email', '=', email)
      .where('token', '<>', client.token)
      .execute()
    const row: StatusSubscriberRow = {
      id: newOrderedId(now),
      client_id: client.id,
      token: client.token,
      email,
      secret: newSecret(),
      created_at: now,
      asked_at: null,
      confirmed_at: null,
      notified_until: now,
      next_mail_at: now,
      failures: 0,
    }
    await trx
      .insertInto('status_subscribers')
      .values(row)
      .onConflict((conflict) => conflict.columns(['client_id', 'email']).doNothing())
      .execute()
  })
}

/**
 * Returns what the page of a subscription shows. Of a paused client too: people unsubscribe from old e-mails.
 *
 * @throws AppError `not_found` when there is none (any more), or the link of the status page was revoked
 */
export async function readSubscription(db: Kysely<Tables>, token: string, secret: string) {
  const row = await db
    .selectFrom('status_subscribers')
    .innerJoin('status_links', 'status_links.token', 'status_subscribers.token')
    .innerJoin('clients', 'clients.id', 'status_subscribers.client_id')
    .select(['clients.name', 'status_subscribers.email', 'status_subscribers.confirmed_at'])
    .where('status_subscribers.secret', '=', secret)
    .where('status_subscribers.token', '=', token)
    .executeTakeFirst()
  if (row === undefined) throw notFound('Subscription')
  return row
}

/** @throws AppError `not_found` */
async function readSubscriber(db: Kysely<Tables>, token: string, secret: string): Promise<StatusSubscriberRow> {
  const row = await db
    .selectFrom('status_subscribers')
    .selectAll()
    .where('secret', '=', secret)
    .where('token', '=', token)
    .executeTakeFirst()
  if (row === undefined) throw notFound('Subscription')
  return row
}

/**
 * Confirms a subscription, after which e-mail is sent. Repeating it does no harm.
 *
 * @throws AppError `not_found`
 */
export async function confirm(
  { write }: Pick<Store, 'write'>,
  token: string,
  secret: string,
  now: number,
): Promise<void> {
  const { id, confirmed_at } = await readSubscriber(write, token, secret)
  if (confirmed_at !== null) return
  await write
    .updateTable('status_subscribers')
    .set({ confirmed_at: now, notified_until: now, next_mail_at: now, failures: 0 })
    .where('id', '=', id)
    .execute()
}

/**
 * Deletes a subscription, or forgets its address when it was not confirmed.
 *
 * @throws AppError `not_found`
 */
export async function unsubscribe({ write }: Pick<Store, 'write'>, token: string, secret: string): Promise<void> {
  const row = await readSubscriber(write, token, secret)
  if (row.confirmed_at === null) await leaveAlone({ write }, row)
  else await write.deleteFrom('status_subscribers').where('id', '=', row.id).execute()
}

/** Deletes a subscriber whose address the mail server refused, or forgets the address when it was not confirmed. */
export async function removeRefused({ write }: Pick<Store, 'write'>, row: StatusSubscriberRow): Promise<void> {
  if (row.confirmed_at === null) await leaveAlone({ write }, row, refused)
  else await write.deleteFrom('status_subscribers').where('id', '=', row.id).execute()
}

/** Replaces the address by its hash, which recognises it when someone subscribes it again. */
async function leaveAlone(
  { write }: Pick<Store, 'write'>,
  row: StatusSubscriberRow,
  hashed: typeof forgotten = forgotten,
): Promise<void> {
  const { id, client_id, email, created_at, asked_at } = row
  await write
    .updateTable('status_subscribers')
    // `asked_at` is set so that it is not asked again.
    .set({
      email: hashed(client_id, email),
      secret: newSecret(),
      asked_at: (asked_at ?? created_at) + LAST_ASKED_AFTER_MS,
    })
    .where('id', '=', id)
    .where('confirmed_at', 'is', null)
    .execute()
}

/** Forgets addresses that were not confirmed in time, and deletes subscribers of pages that are no longer shared. */
export async function forgetLapsed({ write }: Pick<Store, 'write'>, now: number): Promise<void> {
  await write
    .deleteFrom('status_subscribers')
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb.and([eb('confirmed_at', 'is', null), eb('created_at', '<', now - LEFT_ALONE_MS)]),
        eb.and([eb('email', 'like', `${REFUSED}%`), eb('created_at', '<', now - UNCONFIRMED_MS)]),
        not(
          exists(
            selectFrom('status_links')
              .select('status_links.client_id')
              .whereRef('status_links.token', '=', 'status_subscribers.token'),
          ),
        ),
      ]),
    )
    .execute()
  const lapsed = await write
    .selectFrom('status_subscribers')
    .selectAll()
    .where('confirmed_at', 'is', null)
    .where('created_at', '<', now - UNCONFIRMED_MS)
    .where('email', 'not like', `${FORGOTTEN}%`)
    .execute()
  for (const row of lapsed) await leaveAlone({ write }, row)
}

/**
 * Returns the subscribers of currently shared pages that e-mail may be sent to now. Those who have waited longest come first, so
 * that addresses that are put off again and again hold up no one.
 */
export const openSubscribers = ({ read }: Pick<Store, 'read'>, now: number) =>
  read
    .selectFrom('status_subscribers')
    .innerJoin('status_links', 'status_links.token', 'status_subscribers.token')
    .innerJoin('clients', 'clients.id', 'status_subscribers.client_id')
    .selectAll('status_subscribers')
    .select('clients.name as client_name')
    .where('clients.is_active', '=', 1)
    .where('next_mail_at', '<=', now)
    .where(({ or, eb }) => or([eb('confirmed_at', 'is not', null), eb('asked_at', 'is', null)]))
    .orderBy('next_mail_at')
    .orderBy('status_subscribers.id')
    .execute()
export type OpenSubscriber = Awaited<ReturnType<typeof openSubscribers>>[number]

/** An address gets e-mail at most this often, ms: what happens in between waits for the next one. */
const BETWEEN_MS = 10 * MINUTE
const LONGEST_WAIT_MS = HOUR

/** Returns what an attempt changes in a subscriber; null when the address was refused. */
export function afterMail(
  { failures }: Pick<StatusSubscriberRow, 'failures'>,
  kind: 'delivered' | 'passing' | 'channel_broken' | 'message_refused',
  done: Partial<StatusSubscriberRow>,
  now: number,
): Partial<StatusSubscriberRow> | null {
  if (kind === 'channel_broken') return null
  if (kind === 'passing') {
    return { failures: failures + 1, next_mail_at: now + Math.min(LONGEST_WAIT_MS, MINUTE * 2 ** failures) }
  }
  return { ...done, failures: 0, next_mail_at: now + BETWEEN_MS }
}

/** Returns the subscribers of a client's page, in the order in which they subscribed. */
export const subscribersOf = ({ read }: Pick<Store, 'read'>, clientId: string) =>
  read
    .selectFrom('status_subscribers')
    .innerJoin('status_links', 'status_links.token', 'status_subscribers.token')
    .selectAll('status_subscribers')
    .where('status_subscribers.client_id', '=', clientId)
    .where('email', 'not like', `${FORGOTTEN}%`)
    .orderBy('status_subscribers.id')
    .execute()

/**
 * Removes a subscriber from a client's page.
 *
 * @throws AppError `not_found`
 */
export async function removeSubscriber(ctx: Context, clientId: string, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx
      .deleteFrom('status_subscribers')
      .where('id', '=', id)
      .where('client_id', '=', clientId)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound('Subscriber')
    const before = { client_id: clientId, email: row.email }
    await writeAudit(trx, ctx, [{ entity: 'subscriber', verb: 'delete', id, before, after: null }])
  })
}
