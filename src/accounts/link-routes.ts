import { Type } from 'typebox'
import { createThrottle, emailKey, errorResponses, type HttpApp, IsoTime, mustWait, NoContent } from '../http/index.ts'
import { AppError, asError, type Clock, hashOf, isoTime } from '../lib/index.ts'
import { writeAudit } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import type { KnownCredentials } from './credentials.ts'
import { mailResetLink, userOfLink } from './links.ts'
import type { AccountOptions } from './options.ts'
import { Password, requireFit } from './passwords.ts'
import { UserEmail, UserName } from './user-schemas.ts'

const tags = ['People']
const publicRoute = { access: 'public' } as const
const Secret = Type.String({ minLength: 1, maxLength: 100, description: 'The part of the link after `#`' })

/** Adds routes that need no key, for people who cannot sign in (yet). */
export function linkRoutes(app: HttpApp, options: AccountOptions): void {
  const { store, clock, credentials, mailer, onError } = options
  const throttle = createThrottle(clock)

  app.post(
    '/api/password-links',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Ask for a new password',
        description:
          'Sends a link to the address if it has an account. The answer is the same for every address. 409 if e-mail is not set up.',
        security: [],
        body: Type.Object({ email: UserEmail }, { additionalProperties: false }),
        response: { 204: NoContent, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      if (mailer === null) {
        throw new AppError('conflict', 'This service sends no e-mail: ask an owner for a link')
      }
      const guesser = { address: request.ip, isByOwnName: true }
      const email = emailKey(request.body.email)
      const wait = throttle.waitForPassword(guesser, email)
      if (wait > 0) throw mustWait('Too many requests for a new password', wait)
      throttle.passwordTried(guesser, email)
      // Not awaited: the duration would reveal whether there is an account.
      void mailResetLink(store, options, email).catch((thrown: unknown) => onError(asError(thrown), 'mailing a link'))
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/api/password-links/read',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Read whose password a link sets',
        security: [],
        body: Type.Object({ secret: Secret }, { additionalProperties: false }),
        response: {
          200: Type.Object({
            email: Type.String(),
            name: Type.String(),
            is_invitation: Type.Boolean({ description: 'Whether it is an invitation: no password has been set yet' }),
            expires_at: IsoTime,
          }),
          ...errorResponses(404),
        },
      },
    },
    async ({ body }) => {
      const { email, name, password_hash, expires_at } = await userOfLink(store.read, body.secret, clock.now())
      return { email, name, is_invitation: password_hash === null, expires_at: isoTime(expires_at) }
    },
  )

  app.post(
    '/api/password-links/use',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Set a password with a link',
        description: 'Works once. Ends all sessions of the account; sign in with the new password afterwards.',
        security: [],
        body: Type.Object(
          { secret: Secret, password: Password, name: Type.Optional(UserName) },
          { additionalProperties: false },
        ),
        response: { 204: NoContent, ...errorResponses(404, 409) },
      },
    },
    async ({ body }, reply) => {
      await setPassword(store, clock, credentials, body)
      return reply.code(204).send(null)
    },
  )
}

/** @throws AppError `not_found`, or `invalid_request` for a password that is too easy to guess */
async function setPassword(
  store: Store,
  clock: Clock,
  { passwords }: KnownCredentials,
  { secret, password, name }: { secret: string; password: string; name?: string },
): Promise<void> {
  const asked = await userOfLink(store.read, secret, clock.now())
  const given = name === undefined ? {} : { name: name.trim() }
  requireFit(password, { ...asked, ...given })
  const password_hash = await passwords.hash(password)
  await store.write.transaction().execute(async (trx) => {
    // Hashing takes a while: meanwhile the link may have been used, or its user disabled.
    const user = await userOfLink(trx, secret, clock.now())
    await trx
      .updateTable('users')
      .set({ password_hash, ...given })
      .where('id', '=', user.id)
      .execute()
    // Only now the account is locked.
    const used = await trx.deleteFrom('user_links').where('id', '=', hashOf(secret)).executeTakeFirst()
    if (used.numDeletedRows === 0n) throw new AppError('conflict', 'The link has been used or replaced in the meantime')
    await trx.deleteFrom('user_links').where('user_id', '=', user.id).execute()
    await trx.deleteFrom('sign_ins').where('user_id', '=', user.id).execute()
    await writeAudit(trx, { clock, actor: user.email }, [
      {
        entity: 'user',
        verb: 'update',
        id: user.id,
        before: { password: user.password_hash === null ? 'never set' : 'as before', name: user.name },
        after: { password: 'set with a link', name: user.name, ...given },
      },
    ])
  })
}
