import { type Static, Type } from 'typebox'
import { createThrottle, errorResponses, type HttpApp, SESSION_MS, sessionCookie } from '../../http/index.ts'
import { asError, notFound, Repeats, SECOND } from '../../lib/index.ts'
import type { AccountOptions } from '../options.ts'
import { SignInFailure, type SignInProblem } from './failure.ts'
import { warnOfClient } from './group-roles.ts'
import { SINGLE_SIGN_ON, signInIdentity } from './identities.ts'
import { CALLBACK_PATH, type OidcProvider, SIGN_IN_MS } from './provider.ts'

/**
 * Kept by the browser while its user is at the provider. The provider sends it back from another site, and a strict cookie would
 * not be sent.
 */
const PENDING_COOKIE = 'tagwarden_oidc'

/** A stranger can cause these as often as they like, so the log has one line a minute of each. */
const OFTEN: readonly SignInProblem[] = ['busy', 'expired', 'provider', 'setup']
/** Problems that cost the provider nothing. Any page can make its readers' browsers cause `expired`, which must not lock them out. */
const FREE: readonly SignInProblem[] = ['busy', 'expired']

const tags = ['Session']
const publicRoute = { access: 'public', work: 'provider' } as const
const Elsewhere = Type.Unsafe<undefined>({ type: 'null', description: 'To the page that `Location` names' })

const SignInQuery = Type.Object(
  {
    return_to: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'Path of the dashboard page to show afterwards' }),
    ),
  },
  { additionalProperties: false },
)
/** Providers add fields of their own. */
const CallbackQuery = Type.Object(
  {
    code: Type.Optional(Type.String({ description: 'What the provider exchanges for the identity' })),
    state: Type.Optional(Type.String({ description: 'As in the redirect to the provider' })),
    error: Type.Optional(Type.String({ description: 'Why the provider refused the sign-in' })),
  },
  { additionalProperties: true },
)

/** Adds the sign-in with an identity provider. Every failure leads back to the sign-in page, which says why. */
export function oidcRoutes(app: HttpApp, options: AccountOptions): void {
  const { store, clock, credentials, provider, groupRoles, publicUrl, onError, warn } = options
  const throttle = createThrottle(clock)
  const pendingCookie = () =>
    ({ path: '/api/oidc', httpOnly: true, sameSite: 'lax', secure: publicUrl().startsWith('https:') }) as const

  const repeats = new Repeats(clock)
  function warnOf({ problem, message }: SignInFailure): void {
    const repeated = OFTEN.includes(problem) ? repeats.passes(`${problem}: ${message}`) : 0
    if (repeated === null) return
    warn({ problem, reason: message, ...(repeated > 0 && { repeated }) }, 'a sign-in with the identity provider failed')
  }

  /** Where the browser goes after a failure; only one word for it leaves the service. */
  function afterFailure(thrown: unknown): string {
    if (thrown instanceof SignInFailure) warnOf(thrown)
    else onError(asError(thrown), 'a sign-in with the identity provider')
    return `/sign-in?problem=${thrown instanceof SignInFailure ? thrown.problem : 'service'}`
  }

  app.get(
    '/api/oidc/sign-in',
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Sign in with the identity provider',
        description:
          'For browsers: redirects to the provider, and from there back to the dashboard. 404 if no provider is set up.',
        security: [],
        querystring: SignInQuery,
        response: { 302: Elsewhere, ...errorResponses(404) },
      },
    },
    async ({ query }: { query: Static<typeof SignInQuery> }, reply) => {
      const oidc = required(provider)
      try {
        const { url, pending } = await oidc.begin(localPath(query.return_to))
        reply.setCookie(PENDING_COOKIE, pending, { ...pendingCookie(), maxAge: SIGN_IN_MS / SECOND })
        return reply.redirect(url)
      } catch (thrown) {
        return reply.redirect(afterFailure(thrown))
      }
    },
  )

  app.get(
    CALLBACK_PATH,
    {
      config: publicRoute,
      schema: {
        tags,
        summary: 'Return from the identity provider',
        description: 'For browsers that the provider sends back: starts a session and redirects to the dashboard.',
        security: [],
        querystring: CallbackQuery,
        response: { 302: Elsewhere, ...errorResponses(400, 404) },
      },
    },
    async (request, reply) => {
      const oidc = required(provider)
      const guesser = { address: request.ip, isByOwnName: true }
      const forget = () => reply.clearCookie(PENDING_COOKIE, pendingCookie())
      try {
        // Each attempt sends a request to the provider, which we must not flood.
        if (throttle.wait(guesser, 'admin') > 0)
          throw new SignInFailure('busy', 'too many failed tries from an address')
        const search = request.url.slice(request.url.indexOf('?'))
        const { assertion, returnTo, signOutHint } = await oidc.finish(search, request.cookies[PENDING_COOKIE])
        const identityOptions = { store, clock, groupRoles, actor: SINGLE_SIGN_ON, warn: warnOfClient(warn) }
        const { userId, identityId } = await signInIdentity(identityOptions, assertion)
        throttle.succeeded(guesser, 'admin')
        credentials.noteAccount()
        const origin = { identityId, signOutHint }
        const value = await credentials.begin({ userId, origin }, request.headers['user-agent'])
        forget()
        sessionCookie(publicUrl()).set(reply, value, SESSION_MS.user)
        return reply.redirect(returnTo)
      } catch (thrown) {
        const problem = thrown instanceof SignInFailure ? thrown.problem : 'service'
        if (thrown instanceof SignInFailure && !FREE.includes(problem)) throttle.failed(guesser)
        // The answer belongs to another sign-in than the browser's last, which continues in its own tab.
        if (problem !== 'expired') forget()
        return reply.redirect(afterFailure(thrown))
      }
    },
  )
}

/** @throws AppError `not_found` */
function required(provider: OidcProvider | null): OidcProvider {
  if (provider === null) throw notFound('An identity provider')
  return provider
}

/** A placeholder for our own host; no one can have this name (RFC 2606). */
const OWN = 'http://own.invalid'

/** The path is kept in a cookie, for which browsers allow 4 kB. */
const LONGEST = 2_000

/**
 * The page of ours to go to after the sign-in: always a path, never another site. Browsers read `//host`, `/\host` and, ignoring
 * the line break, `/⏎/host` as another host.
 */
export function localPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/')) return '/'
  const url = URL.parse(text, OWN)
  if (url === null || url.origin !== OWN) return '/'
  // `/.//host` is a path here, but would be a host when it is parsed again.
  if (url.pathname.startsWith('//') || /^\/api(\/|$)/.test(url.pathname)) return '/'
  const path = url.pathname + url.search + url.hash
  return path.length > LONGEST ? '/' : path
}
