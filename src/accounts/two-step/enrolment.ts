import { tooManyCodes } from '../../http/index.ts'
import { AppError, hashOf, invalidRequest, notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { Kysely, Tables, Transaction, UserRow } from '../../store/index.ts'
import { lockUser } from '../users.ts'
import { addressForApp, hashOfRecoveryCode, newRecoveryCodes, newTwoStepSecret } from './codes.ts'
import { asksForCode, type CodeOutcome, lockTwoStep, removeTwoStep, tryCodeIn } from './second-step.ts'

/** What an app receives once. */
export interface AppSecret {
  secret: string
  uri: string
}

/**
 * Begins to add the second step. It counts only once a code proves that an app has the secret.
 *
 * @throws AppError `invalid_request` for a wrong password; `conflict` when the second step is on, or the account has no password
 */
export async function beginTwoStep(
  ctx: Context,
  userId: string,
  isOwnPassword: (stored: string) => Promise<boolean>,
): Promise<AppSecret> {
  const user = await userOf(ctx.store.read, userId)
  if (user.password_hash === null) {
    throw new AppError('conflict', 'This account signs in with the identity provider, which may ask for a second step')
  }
  if (!(await isOwnPassword(user.password_hash))) {
    throw invalidRequest('/password', 'is not your current password')
  }
  const secret = newTwoStepSecret()
  await ctx.store.write.transaction().execute(async (trx) => {
    // Deleted while the password was checked.
    if ((await lockUser(trx, 'id', userId)) === undefined) throw notFound('User')
    const begun = { secret, created_at: ctx.clock.now(), confirmed_at: null, last_step: 0, failures: 0, failed_at: 0 }
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('user_two_steps')
      .values({ user_id: userId, ...begun })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet(begun).where('user_two_steps.confirmed_at', 'is', null),
      )
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) throw alreadyOn()
  })
  return { secret, uri: addressForApp(secret, user.email) }
}

/**
 * Turns the second step on and ends all other sessions, which began without it.
 *
 * @param cookie of the caller's session
 * @returns the recovery codes, shown only this once
 * @throws AppError `invalid_request` for a wrong code, `conflict` when nothing was begun, `rate_limited`
 */
export async function confirmTwoStep(
  ctx: Context,
  userId: string,
  code: string,
  cookie: string | null,
): Promise<string[]> {
  return inTransaction(ctx, async (trx) => {
    await requireOff(trx, userId)
    const outcome = await tryCodeIn(trx, ctx.clock.now(), userId, code)
    if (outcome.kind !== 'right') return outcome
    await trx
      .updateTable('user_two_steps')
      .set({ confirmed_at: ctx.clock.now() })
      .where('user_id', '=', userId)
      .execute()
    await trx
      .deleteFrom('sign_ins')
      .where('user_id', '=', userId)
      .where('id', '<>', cookie === null ? '' : hashOf(cookie))
      .execute()
    await auditTwoStep(trx, ctx, userId, 'off', 'on')
    return writeRecoveryCodes(trx, ctx, userId)
  })
}

/** Replaces the recovery codes that are left by ten new ones. @throws AppError */
export async function renewRecoveryCodes(ctx: Context, userId: string, code: string): Promise<string[]> {
  return inTransaction(ctx, async (trx) => {
    await requireOn(trx, userId)
    const outcome = await tryCodeIn(trx, ctx.clock.now(), userId, code)
    if (outcome.kind !== 'right') return outcome
    await auditTwoStep(trx, ctx, userId, 'on', 'on, with new recovery codes')
    return writeRecoveryCodes(trx, ctx, userId)
  })
}

/** Turns off one's own second step. @throws AppError */
export async function endTwoStep(ctx: Context, userId: string, code: string): Promise<void> {
  await inTransaction(ctx, async (trx) => {
    await requireOn(trx, userId)
    const outcome = await tryCodeIn(trx, ctx.clock.now(), userId, code)
    if (outcome.kind !== 'right') return outcome
    await removeTwoStep(trx, userId)
    await auditTwoStep(trx, ctx, userId, 'on', 'off')
    return []
  })
}

/** Turns it off for someone who has lost the app and the recovery codes. @throws AppError `conflict` when it is not on */
export async function resetTwoStep(ctx: Context, userId: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    await requireOn(trx, userId)
    await removeTwoStep(trx, userId)
    await auditTwoStep(trx, ctx, userId, 'on', 'taken away')
  })
}

/** Commits before throwing, because a wrong code has to be counted. */
async function inTransaction(
  ctx: Context,
  work: (trx: Transaction<Tables>) => Promise<string[] | CodeOutcome>,
): Promise<string[]> {
  const outcome = await ctx.store.write.transaction().execute(work)
  if (Array.isArray(outcome)) return outcome
  if (outcome.kind === 'wait') throw tooManyCodes(outcome.ms)
  throw invalidRequest('/code', 'is wrong, or was already used')
}

async function writeRecoveryCodes(trx: Transaction<Tables>, ctx: Context, userId: string): Promise<string[]> {
  const codes = newRecoveryCodes()
  const created_at = ctx.clock.now()
  await trx.deleteFrom('user_recovery_codes').where('user_id', '=', userId).execute()
  await trx
    .insertInto('user_recovery_codes')
    .values(codes.map((code) => ({ id: hashOfRecoveryCode(userId, code), user_id: userId, created_at })))
    .execute()
  return codes
}

/** Locks first, as `requireOn` does: of two who turn it on or off at once, the second finds what the first did. */
async function requireOff(trx: Transaction<Tables>, userId: string): Promise<void> {
  await lockTwoStep(trx, userId)
  if (await asksForCode(trx, userId)) throw alreadyOn()
}

const alreadyOn = (): AppError => new AppError('conflict', 'The second step is already on')

async function requireOn(trx: Transaction<Tables>, userId: string): Promise<void> {
  await lockTwoStep(trx, userId)
  if (!(await asksForCode(trx, userId))) throw new AppError('conflict', 'The second step is not on')
}

async function userOf(db: Kysely<Tables>, userId: string): Promise<UserRow> {
  const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
  if (user === undefined) throw notFound('User')
  return user
}

async function auditTwoStep(
  trx: Transaction<Tables>,
  ctx: Context,
  userId: string,
  before: string,
  after: string,
): Promise<void> {
  await writeAudit(trx, ctx, [
    { entity: 'user', verb: 'update', id: userId, before: { second_step: before }, after: { second_step: after } },
  ])
}
