import { AppError, type Clock } from '../../lib/index.ts'
import type { Kysely, Store, Tables, Transaction } from '../../store/index.ts'
import { codeDelay, hashOfRecoveryCode, isAppCode, stepOfCode } from './codes.ts'

export type CodeOutcome = { kind: 'right' } | { kind: 'wrong' } | { kind: 'wait'; ms: number }

/** Whether signing in with this account's password also requires a code. */
export const asksForCode = async (db: Kysely<Tables>, userId: string): Promise<boolean> =>
  (await asksForCodeSince(db, userId)) !== null

/** Since when it is required, epoch ms; null when it is not. */
export async function asksForCodeSince(db: Kysely<Tables>, userId: string): Promise<number | null> {
  const row = await db
    .selectFrom('user_two_steps')
    .select('confirmed_at')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.confirmed_at ?? null
}

/**
 * For a sign-in with the password alone. Locks the second step, so that turning it on also ends the session that begins now.
 *
 * @throws AppError `unauthorized` when it was turned on meanwhile
 */
export async function requireNoCode(trx: Transaction<Tables>, userId: string): Promise<void> {
  await lockTwoStep(trx, userId)
  if (!(await asksForCode(trx, userId))) return
  const message = 'is needed, too'
  throw new AppError('unauthorized', `The code ${message}`, [{ path: '/code', message }])
}

export const lockTwoStep = (trx: Transaction<Tables>, userId: string) =>
  trx
    .updateTable('user_two_steps')
    .set(({ ref }) => ({ failures: ref('failures') }))
    .where('user_id', '=', userId)
    .execute()

export async function removeTwoStep(trx: Transaction<Tables>, userId: string): Promise<void> {
  await trx.deleteFrom('user_two_steps').where('user_id', '=', userId).execute()
  await trx.deleteFrom('user_recovery_codes').where('user_id', '=', userId).execute()
}

/** Tries a code of the app or a recovery code; each works once. */
export const tryCode = (
  { write }: Pick<Store, 'write'>,
  clock: Clock,
  userId: string,
  code: string,
): Promise<CodeOutcome> => write.transaction().execute((trx) => tryCodeIn(trx, clock.now(), userId, code))

/**
 * Tries codes of one account one after the other, as each locks its row: so guesses sent all at once each count. A recovery code
 * cannot be guessed, so it works even while someone else's guesses make the account wait.
 */
export async function tryCodeIn(
  trx: Transaction<Tables>,
  now: number,
  userId: string,
  code: string,
): Promise<CodeOutcome> {
  if (!isAppCode(code)) return tryRecoveryCode(trx, userId, code)
  await lockTwoStep(trx, userId)
  const row = await trx.selectFrom('user_two_steps').selectAll().where('user_id', '=', userId).executeTakeFirst()
  if (row === undefined) return { kind: 'wrong' }
  const delayMs = codeDelay(row.failures)
  // The failure seems to lie ahead when the clock was set back since.
  const waitMs = Math.min(delayMs, row.failed_at + delayMs - now)
  if (waitMs > 0) return { kind: 'wait', ms: waitMs }
  const step = stepOfCode(row.secret, code, now)
  // A used code that someone saw over a shoulder is worthless, and so are earlier ones.
  const isRight = step !== null && step > row.last_step
  await trx
    .updateTable('user_two_steps')
    .set(isRight ? { last_step: step, failures: 0 } : { failures: row.failures + 1, failed_at: now })
    .where('user_id', '=', userId)
    .execute()
  return { kind: isRight ? 'right' : 'wrong' }
}

async function tryRecoveryCode(trx: Transaction<Tables>, userId: string, code: string): Promise<CodeOutcome> {
  const { numDeletedRows } = await trx
    .deleteFrom('user_recovery_codes')
    .where('id', '=', hashOfRecoveryCode(userId, code))
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return { kind: numDeletedRows === 1n ? 'right' : 'wrong' }
}
