import { type Static, Type } from 'typebox'
import { invalidRequest } from '../../lib/index.ts'
import type { HttpApp } from '../schemas.ts'
import { model, NoContent, nullable, Uuid } from '../schemas.ts'
import { type Access, OPEN, type ProxyOutcome, SESSION_MS, sessionCookie } from './access.ts'
import type { Gate, SignIn } from './gate.ts'
import { CLIENT_ROLES, type ClientRole } from './grants.ts'

const ClientRoleSchema = Type.Enum([...CLIENT_ROLES])

const Session = model('Session', {
  role: nullable(
    Type.Enum(['admin', 'viewer', 'open', 'user', 'token'], {
      description:
        'How the caller is signed in. null: not at all; admin and viewer: with a key from the settings; user: with an account; token: with an API token; open: no sign-in is needed',
    }),
  ),
  authentication_required: Type.Boolean(),
  accounts: Type.Boolean({ description: 'Whether people can sign in with e-mail and password' }),
  single_sign_on: nullable(
    Type.String({
      description:
        'The identity provider that people can also sign in with, at `/api/oidc/sign-in`; null: none is set up',
    }),
  ),
  proxy: Type.Union([
    Type.Object({
      problem: nullable(
        Type.String({
          description: 'Why the person that the proxy names may not sign in, as a code; null: the caller is signed in',
        }),
      ),
      signs_out: Type.Boolean({
        description: 'Whether the proxy has a page that ends its session; signing out leads there',
      }),
    }),
    Type.Null({ description: 'null: the call did not come through a proxy that signs people in' }),
  ]),
  user: Type.Union([
    Type.Object({ id: Uuid, email: Type.String(), name: Type.String() }),
    Type.Null({ description: 'null: the caller is not signed in with an account' }),
  ]),
  access: Type.Object(
    {
      all: nullable(
        Type.Unsafe<ClientRole>({
          ...ClientRoleSchema,
          description: 'Role for every client and the service itself; null: none',
        }),
      ),
      clients: Type.Array(Type.Object({ client_id: Uuid, role: ClientRoleSchema }), {
        description: 'Roles for single clients, where they allow more',
      }),
    },
    { description: 'What the caller may do' },
  ),
  public_url: nullable(
    Type.String({
      description:
        'Where people and tags reach the service (`PUBLIC_URL`); null: not set, or the caller is not signed in',
    }),
  ),
})
export type Session = Static<typeof Session>

const SignInBody = Type.Object(
  {
    token: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: 'A key, or `email` and `password`' }),
    ),
    email: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    code: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 40,
        description:
          'Code of the app, or a recovery code. Required when a sign-in without it is answered 401 with a fault of `/code`',
      }),
    ),
  },
  { additionalProperties: false },
)

/** @throws AppError `invalid_request` when it is neither a key nor an address with its password */
function signInOf({ token, email, password, code }: Static<typeof SignInBody>): SignIn {
  if (email === undefined && password === undefined) {
    if (token === undefined) throw invalidRequest('/token', 'is required, unless email and password are given')
    return { token }
  }
  if (token !== undefined) throw invalidRequest('/token', 'cannot be combined with email and password')
  if (email === undefined) throw invalidRequest('/email', 'is required with a password')
  if (password === undefined) throw invalidRequest('/password', 'is required with an email')
  return { email, password, ...(code === undefined ? {} : { code }) }
}

function sessionOf(
  { role, person, grants }: Access,
  gate: Gate,
  publicUrl: string | null,
  byProxy: ProxyOutcome | null = null,
): Session {
  return {
    role: role === 'nobody' ? null : role,
    authentication_required: gate.authenticationRequired,
    accounts: gate.hasAccounts,
    single_sign_on: gate.singleSignOn,
    proxy:
      byProxy === null
        ? null
        : { problem: 'problem' in byProxy ? byProxy.problem : null, signs_out: gate.proxySignOutUrl !== null },
    user: person,
    access: { all: grants.all, clients: Array.from(grants.clients, ([client_id, of]) => ({ client_id, role: of })) },
    public_url: role === 'nobody' ? null : publicUrl,
  }
}

const publicRoute = { access: 'public' } as const
const tags = ['Session']

const sessionMsOf = ({ role }: Access): number =>
  role === 'admin' || role === 'viewer' ? SESSION_MS[role] : SESSION_MS.user

/** Adds sign-in for browsers. Programs send their key with every call instead. */
export function sessionRoutes(app: HttpApp, gate: Gate, publicUrl: string | null): void {
  const cookie = sessionCookie(publicUrl)

  app.get(
    '/api/session',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Read who is signed in',
        description: 'The account and the roles of the key or session cookie that the request carries.',
        security: [],
        response: { 200: Session },
      },
    },
    async (request) => {
      const { access, byProxy } = await gate.recognise(request)
      return sessionOf(access, gate, publicUrl, byProxy)
    },
  )

  app.post(
    '/api/session',
    {
      config: { ...publicRoute, work: 'password' },
      schema: {
        tags,
        summary: 'Sign in',
        description:
          'Exchanges a key of the settings, or the e-mail address and password of an account, for a session cookie: of 12 hours for an ' +
          'admin, of 30 days for a viewer, of 7 days for a user. After repeated failures the address has to wait; after repeated failures on one account, so do other addresses that try it.',
        security: [],
        body: SignInBody,
        response: { 200: Session },
      },
    },
    async (request, reply) => {
      const given = signInOf(request.body)
      if (!gate.authenticationRequired) return sessionOf(OPEN, gate, publicUrl)
      const access = await gate.signIn(given, request)
      if (access.session !== null) cookie.set(reply, access.session, sessionMsOf(access))
      return sessionOf(access, gate, publicUrl)
    },
  )

  app.delete(
    '/api/session',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Sign out',
        description:
          'Ends the session, on every node, and removes its cookie. Answers 200 with an address where the identity provider, or the proxy that signed the caller in, has a page to sign out.',
        security: [],
        response: {
          200: Type.Object({
            provider_url: Type.String({
              description: 'Address where the browser also ends its session at the provider',
            }),
          }),
          204: NoContent,
        },
      },
    },
    async (request, reply) => {
      const provider_url = await gate.signOut(request)
      cookie.clear(reply)
      return provider_url === null ? reply.code(204).send(null) : reply.code(200).send({ provider_url })
    },
  )
}
