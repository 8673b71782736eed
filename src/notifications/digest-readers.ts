import { domainToASCII } from 'node:url'
import { type Clock, newOrderedId, newSecret, notFound } from '../lib/index.ts'
import { type Context, lockClient, writeAudit } from '../management/index.ts'
import type { DigestReaderRow, Kysely, Store, Tables, Transaction } from '../store/index.ts'

/** Who changes something by the link in a digest, in the audit log: the link may have been forwarded. */
const BY_LINK = 'the link in a digest'

/** Returns the same for all spellings of an address; addresses that differ in case only are one mailbox almost everywhere. */
export function asServersSeeIt(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return `${address.slice(0, at)}@${domainToASCII(domain) || domain}`.toLowerCase()
}

/** Returns the addresses of the field `email`. */
export const addressesIn = (list: string): string[] => list.split(',').map((one) => one.trim())

/** An address that gets a digest. */
export interface DigestReader {
  id: string
  address: string
  /** For the link with which it unsubscribes. */
  secret: string
}

/** Returns those of the addresses that get digests of the client. */
export type DigestReaders = (clientId: string, addresses: readonly string[]) => Promise<DigestReader[]>

export const digestReaders =
  ({ write }: Pick<Store, 'write'>, clock: Clock): DigestReaders =>
  (clientId, addresses) =>
    write.transaction().execute(async (trx) => {
      // Otherwise a client that is being deleted would leave them behind.
      if ((await lockClient(trx, clientId)) === undefined) return []
      const spellings = new Map(addresses.map((address) => [asServersSeeIt(address), address]))
      const now = clock.now()
      const blank = [...spellings.keys()].map((email) => ({
        id: newOrderedId(now),
        client_id: clientId,
        email,
        secret: newSecret(),
        created_at: now,
        opted_out_at: null,
      }))
      await trx
        .insertInto('digest_readers')
        .values(blank)
        .onConflict((conflict) => conflict.columns(['client_id', 'email']).doNothing())
        .execute()
      const rows = await trx
        .selectFrom('digest_readers')
        .selectAll()
        .where('client_id', '=', clientId)
        .where('opted_out_at', 'is', null)
        .execute()
      const readers = new Map(rows.map((row) => [row.email, row]))
      return [...spellings].flatMap(([email, address]) => {
        const row = readers.get(email)
        return row === undefined ? [] : [{ id: row.id, secret: row.secret, address }]
      })
    })

/** Whether someone of the client's field `email` gets its digests. */
export async function hasDigestReaders(db: Kysely<Tables>, clientId: string, email: string): Promise<boolean> {
  const rows = await ofClient(db, clientId).execute()
  const out = new Set(rows.map((row) => row.email))
  return addressesIn(email).some((address) => !out.has(asServersSeeIt(address)))
}

const ofClient = (db: Kysely<Tables>, clientId: string) =>
  db.selectFrom('digest_readers').selectAll().where('client_id', '=', clientId).where('opted_out_at', 'is not', null)

/** Returns the addresses that have unsubscribed from a client's digests, the oldest first. */
export const optOutsOf = ({ read }: Pick<Store, 'read'>, clientId: string): Promise<DigestReaderRow[]> =>
  ofClient(read, clientId).orderBy('opted_out_at').orderBy('id').execute()

/**
 * Returns what the page of the link in a digest shows.
 *
 * @throws AppError `not_found` when there is no such link, or the client was deleted
 */
export async function readReader(db: Kysely<Tables>, secret: string) {
  const row = await db
    .selectFrom('digest_readers')
    .innerJoin('clients', 'clients.id', 'digest_readers.client_id')
    .select(['clients.name', 'digest_readers.email', 'digest_readers.opted_out_at'])
    .where('digest_readers.secret', '=', secret)
    .executeTakeFirst()
  if (row === undefined) throw notFound('Digest')
  return row
}

type Writing = Pick<Context, 'store' | 'clock'>

/**
 * Stops a client's digests to one address, by the link in them. Repeating it does no harm.
 *
 * @throws AppError `not_found`
 */
export const stopDigests = (writing: Writing, secret: string): Promise<void> =>
  change({ ...writing, actor: BY_LINK }, { secret }, true)

/**
 * Resumes them, by the same link.
 *
 * @throws AppError `not_found`
 */
export const resumeByLink = (writing: Writing, secret: string): Promise<void> =>
  change({ ...writing, actor: BY_LINK }, { secret }, false)

/**
 * Resumes them for an editor of the client.
 *
 * @throws AppError `not_found`
 */
export const resumeDigests = (ctx: Context, clientId: string, id: string): Promise<void> =>
  change(ctx, { id, client_id: clientId }, false)

async function change(ctx: Context, which: Partial<DigestReaderRow>, isOut: boolean): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('digest_readers')
      .selectAll()
      .where(({ and }) => and(which))
      .executeTakeFirst()
    if (row === undefined) throw notFound('Digest')
    const { id, client_id: clientId, email } = row
    // The condition repeats, because two clicks may come at once, and the log has one.
    const { numUpdatedRows } = await trx
      .updateTable('digest_readers')
      .set({ opted_out_at: isOut ? ctx.clock.now() : null })
      .where('id', '=', id)
      .where('opted_out_at', isOut ? 'is' : 'is not', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    const record = { client_id: clientId, email }
    const verb = isOut ? 'create' : 'delete'
    const [before, after] = isOut ? [null, record] : [record, null]
    await writeAudit(trx, ctx, [{ entity: 'digest_opt_out', verb, id, before, after }])
  })
}

/** Deletes the addresses with their client. */
export async function removeReaders(trx: Transaction<Tables>, clientId: string): Promise<void> {
  await trx.deleteFrom('digest_readers').where('client_id', '=', clientId).execute()
}
