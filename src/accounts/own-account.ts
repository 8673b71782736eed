import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import {
  type Access,
  createThrottle,
  errorResponses,
  type HttpApp,
  IsoTime,
  model,
  mustWait,
  NoContent,
  type Person,
  Uuid,
} from '../http/index.ts'
import { AppError, type Clock, hashOf, invalidRequest, isoTime, notFound } from '../lib/index.ts'
import { type Context, contextOf, writeAudit } from '../management/index.ts'
import type { Kysely, Store, Tables } from '../store/index.ts'
import type { KnownCredentials } from './credentials.ts'
import type { AccountOptions } from './options.ts'
import { Password, requireFit } from './passwords.ts'
import { endSession, SessionRecord, sessionsOf } from './sessions.ts'
import { asksForCodeSince } from './two-step/second-step.ts'
import { UserName } from './user-schemas.ts'
import { waysOf } from './ways.ts'

const AccountRecord = model('Account', {
  email: Type.String(),
  name: Type.String(),
  has_password: Type.Boolean(),
  single_sign_on: Type.Boolean({ description: 'Whether you have signed in with the identity provider' }),
  two_step: Type.Union([
    Type.Object({ since: IsoTime, recovery_codes_left: Type.Integer() }),
    Type.Null({ description: 'null: the password alone is enough to sign in' }),
  ]),
})
export type AccountRecord = Static<typeof AccountRecord>

const UpdateAccount = Type.Partial(
  Type.Object({
    name: UserName,
    password: Password,
    current_password: Type.String({ minLength: 1, maxLength: 512, description: 'Required with `password`' }),
  }),
  { additionalProperties: false },
)
type UpdateAccount = Static<typeof UpdateAccount>

async function accountOf({ read }: Pick<Store, 'read'>, { id }: Person): Promise<AccountRecord> {
  const user = await read
    .selectFrom('users')
    .select(['email', 'name', 'password_hash'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (user === undefined) throw notFound('User')
  const { hasIdentity } = (await waysOf(read, [id]))(id)
  return {
    email: user.email,
    name: user.name,
    has_password: user.password_hash !== null,
    single_sign_on: hasIdentity,
    two_step: await twoStepOf(read, id),
  }
}

async function twoStepOf(db: Kysely<Tables>, userId: string): Promise<AccountRecord['two_step']> {
  const since = await asksForCodeSince(db, userId)
  if (since === null) return null
  const { left } = await db
    .selectFrom('user_recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('left'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return { since: isoTime(since), recovery_codes_left: Number(left) }
}

/** Changes one's own account. A new password ends all sessions except the caller's. @throws AppError */
async function updateAccount(
  ctx: Context,
  { passwords }: KnownCredentials,
  { person, session }: Access & { person: Person },
  isOwnPassword: (password: string, stored: string | null) => Promise<boolean>,
  { name, password, current_password }: UpdateAccount,
): Promise<void> {
  const user = await ctx.store.read.selectFrom('users').selectAll().where('id', '=', person.id).executeTakeFirst()
  if (user === undefined) throw notFound('User')
  if (password !== undefined && user.password_hash === null) {
    throw new AppError('conflict', 'This account signs in with the identity provider and has no password')
  }
  if (password !== undefined && current_password === undefined) {
    throw invalidRequest('/current_password', 'is required to set a new one')
  }
  if (password !== undefined && !(await isOwnPassword(current_password ?? '', user.password_hash))) {
    throw invalidRequest('/current_password', 'is not your current password')
  }
  const after = { name: name?.trim() ?? user.name, email: user.email }
  if (password !== undefined) requireFit(password, after)
  const password_hash = password === undefined ? null : await passwords.hash(password)
  await ctx.store.write.transaction().execute(async (trx) => {
    // Hashing takes a while. Someone who knew the old password must not undo what a link has set meanwhile.
    const { numUpdatedRows } = await trx
      .updateTable('users')
      .set({ name: after.name, ...(password_hash === null ? {} : { password_hash }) })
      .where('id', '=', user.id)
      .$if(password_hash !== null, (own) => own.where('password_hash', '=', user.password_hash))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new AppError('conflict', 'Your password has been changed in the meantime')
    if (password_hash !== null) {
      await trx.deleteFrom('user_links').where('user_id', '=', user.id).execute()
      const current = session === null ? '' : hashOf(session)
      await trx.deleteFrom('sign_ins').where('user_id', '=', user.id).where('id', '<>', current).execute()
      await trx
        .updateTable('sign_ins')
        .set({ token_print: hashOf(password_hash) })
        .where('id', '=', current)
        .execute()
    }
    if (password_hash === null && after.name === user.name) return
    const changed = { name: user.name, password: 'as before' }
    await writeAudit(trx, ctx, [
      {
        entity: 'user',
        verb: 'update',
        id: user.id,
        before: changed,
        after: { name: after.name, password: password === undefined ? 'as before' : 'changed' },
      },
    ])
  })
}

/** @throws AppError `forbidden` for callers without an account */
export function ownAccount({ access }: FastifyRequest): Access & { person: Person } {
  const { person } = access
  if (person === null) throw new AppError('forbidden', 'This requires an account: sign in with e-mail and password')
  return { ...access, person }
}

const tags = ['People']
/** For anyone, whatever their role, because it is about themselves. */
export const OWN_ACCOUNT = { needs: 'viewer', scope: 'anyone' } as const

/** Adds the routes by which people manage their own account. */
export function ownAccountRoutes(app: HttpApp, options: AccountOptions, isOwnPassword: IsOwnPassword): void {
  const { store, credentials } = options

  app.get(
    '/api/account',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Show your account',
        response: { 200: AccountRecord, ...errorResponses(404) },
      },
    },
    async (request) => accountOf(store, ownAccount(request).person),
  )

  app.patch(
    '/api/account',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Change your account',
        description: 'Your name or your password. A new password ends all your other sessions.',
        body: UpdateAccount,
        response: { 204: NoContent, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const own = ownAccount(request)
      const isOwn = (password: string, stored: string | null) => isOwnPassword(request, own.person, password, stored)
      await updateAccount(contextOf(options, request), credentials, own, isOwn, request.body)
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/api/account/sessions',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'List your sessions',
        description: 'Browsers that are signed in with your account.',
        response: { 200: Type.Array(SessionRecord, { description: 'Most recently seen first' }) },
      },
    },
    async (request) => {
      const { person, session } = ownAccount(request)
      return sessionsOf(options, person.id, session)
    },
  )

  app.delete(
    '/api/account/sessions/:session_id',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'End one of your sessions',
        params: Type.Object({ session_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { person } = ownAccount(request)
      await endSession(contextOf(options, request), person.id, request.params.session_id)
      return reply.code(204).send(null)
    },
  )
}

/**
 * Whether a signed-in person's entry is their password. Someone at another person's session must not find it out, so wrong ones
 * wait as at the sign-in.
 *
 * @throws RateLimitedError
 */
export type IsOwnPassword = (
  request: FastifyRequest,
  person: Person,
  password: string,
  stored: string | null,
) => Promise<boolean>

export function ownPasswordCheck({
  clock,
  credentials,
}: {
  clock: Clock
  credentials: Pick<KnownCredentials, 'passwords'>
}): IsOwnPassword {
  const throttle = createThrottle(clock)
  return async (request, { email }, password, stored) => {
    const guesser = { address: request.ip, isByOwnName: true }
    const wait = throttle.waitForPassword(guesser, email)
    if (wait > 0) throw mustWait('Too many wrong passwords', wait)
    const isRight = await throttle.tryPassword(guesser, email, () => credentials.passwords.isRight(password, stored))
    if (isRight) throttle.passwordRight(guesser, email)
    return isRight
  }
}
