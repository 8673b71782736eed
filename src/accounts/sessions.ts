import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { type Clock, hashOf, isoTime, notFound } from '../lib/index.ts'
import { type Context, writeAudit } from '../management/index.ts'
import type { Store } from '../store/index.ts'

export const SessionRecord = model('AccountSession', {
  id: Uuid,
  agent: nullable(Type.String({ description: 'Browser and operating system; null if unknown' })),
  created_at: IsoTime,
  last_seen_at: Type.Unsafe<string>({ ...IsoTime, description: 'To the minute' }),
  expires_at: IsoTime,
  is_current: Type.Boolean({ description: 'Whether it is the session of this request' }),
})
export type SessionRecord = Static<typeof SessionRecord>

/** A user's sessions, last seen first. @param cookie the caller's own */
export async function sessionsOf(
  { store, clock }: { store: Pick<Store, 'read'>; clock: Clock },
  userId: string,
  cookie: string | null,
): Promise<SessionRecord[]> {
  const rows = await store.read
    .selectFrom('sign_ins')
    .select(['id', 'public_id', 'agent', 'created_at', 'last_seen_at', 'expires_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', clock.now())
    .orderBy('last_seen_at', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('public_id')
    .execute()
  const current = cookie === null ? null : hashOf(cookie)
  return rows.flatMap(({ id, public_id, agent, created_at, last_seen_at, expires_at }) =>
    public_id === null || created_at === null || last_seen_at === null
      ? []
      : [
          {
            id: public_id,
            agent,
            created_at: isoTime(created_at),
            last_seen_at: isoTime(last_seen_at),
            expires_at: isoTime(expires_at),
            is_current: id === current,
          },
        ],
  )
}

/** @throws AppError `not_found` when it is not one of the user's */
export async function endSession(ctx: Context, userId: string, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const session = await trx
      .deleteFrom('sign_ins')
      .where('user_id', '=', userId)
      .where('public_id', '=', id)
      .returning('agent')
      .executeTakeFirst()
    if (session === undefined) throw notFound('Session')
    const before = { session: session.agent ?? 'unknown browser' }
    await writeAudit(trx, ctx, [{ entity: 'user', verb: 'update', id: userId, before, after: { session: 'ended' } }])
  })
}

/**
 * Replaces the hash of a password by one that is harder to guess. The sessions that began with the password stay.
 *
 * @returns false when `stored` is no longer the hash
 */
export const renewHash = (
  { write }: Pick<Store, 'write'>,
  userId: string,
  stored: string,
  password_hash: string,
): Promise<boolean> =>
  write.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('users')
      .set({ password_hash })
      .where('id', '=', userId)
      .where('password_hash', '=', stored)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await trx
      .updateTable('sign_ins')
      .set({ token_print: hashOf(password_hash) })
      .where('user_id', '=', userId)
      .where('token_print', '=', hashOf(stored))
      .execute()
    return true
  })

/** In the order to test them: later browsers also claim to be earlier ones. */
const BROWSERS: readonly [sign: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: readonly [sign: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const named = (signs: typeof BROWSERS, agent: string): string | undefined =>
  signs.find(([sign]) => sign.test(agent))?.[1]

/** Browser and system of a `User-Agent`, as in `Firefox on Linux`, so that people recognise their own; null when it tells neither. */
export function agentClass(agent: string | undefined): string | null {
  const text = (agent ?? '').slice(0, 512)
  const parts = [named(BROWSERS, text), named(SYSTEMS, text)].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(' on ')
}
