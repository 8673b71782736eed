import { type Static, Type } from 'typebox'
import type { HttpApp } from '../schemas.ts'
import { errorResponses, NoContent, nullable } from '../schemas.ts'
import { SESSION_COOKIE, SESSION_MS } from './access.ts'
import type { Gate } from './gate.ts'

const Session = Type.Object({
  role: nullable(Type.Enum(['admin', 'viewer', 'open'], { description: 'null: not signed in; open: no one needs to' })),
  authentication_required: Type.Boolean(),
})
export type Session = Static<typeof Session>

/** Anyone may send one, so no more is read than a token needs. */
const MAX_SIGN_IN_BYTES = 4_096

const publicRoute = { access: 'public' } as const
const tags = ['Session']

/** Sign-in for browsers. Programs send their key with every call instead. */
export function sessionRoutes(app: HttpApp, gate: Gate, publicUrl: string | null): void {
  const cookie = {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: publicUrl?.startsWith('https:') === true,
  } as const

  app.get(
    '/api/session',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Who am I',
        description: 'The role of the key or session cookie sent along.',
        security: [],
        response: { 200: Session, ...errorResponses() },
      },
    },
    async (request) => {
      const { role } = await gate.recognise(request)
      return { role: role === 'nobody' ? null : role, authentication_required: gate.authenticationRequired }
    },
  )

  app.post(
    '/api/session',
    {
      config: publicRoute,
      bodyLimit: MAX_SIGN_IN_BYTES,
      schema: {
        tags,
        summary: 'Sign in',
        description:
          'Exchanges a key for a session cookie: of 12 hours for an admin, of 30 days for a viewer. Failures in a row make the address wait.',
        security: [],
        body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) }, { additionalProperties: false }),
        response: { 200: Session, ...errorResponses(400) },
      },
    },
    async (request, reply) => {
      if (!gate.authenticationRequired) return { role: 'open' as const, authentication_required: false }
      const session = await gate.signIn(request.body.token, request)
      reply.setCookie(SESSION_COOKIE, session.cookie, { ...cookie, maxAge: SESSION_MS[session.role] / 1_000 })
      return { role: session.role, authentication_required: true }
    },
  )

  app.delete(
    '/api/session',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Sign out',
        description: 'Ends the session, on every node, and removes its cookie.',
        security: [],
        response: { 204: NoContent, ...errorResponses() },
      },
    },
    async (request, reply) => {
      await gate.signOut(request)
      return reply.clearCookie(SESSION_COOKIE, cookie).code(204).send(null)
    },
  )
}
