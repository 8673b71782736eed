import '@fastify/cookie'
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { AppError, type Clock } from '../../lib/index.ts'
import { mustWait, type RateLimitedError, tooManyCodes } from '../errors.ts'
import { pathOf } from '../formats.ts'
import type { HttpApp } from '../schemas.ts'
import {
  type Access,
  type AccessSettings,
  accessOf,
  type Credentials,
  isApiToken,
  NOBODY,
  OPEN,
  type PasswordOwner,
  type PasswordSignIn,
  type ProxyOutcome,
  type Role,
  SESSION_COOKIE,
  type SessionOwner,
} from './access.ts'
import { proxyClaimReader, type Warn } from './proxy-header.ts'
import { changesState, requireRole } from './scope.ts'
import { createThrottle, type Guesser } from './throttle.ts'

interface GateOptions {
  settings: AccessSettings
  credentials: Credentials
  publicUrl: string | null
  clock: Clock
  warn: Warn
}

/** What someone signs in with: a key from the settings, or the password of an account. */
export type SignIn = { token: string } | PasswordSignIn

/** The caller, and how they were recognised. */
interface Recognised {
  access: Access
  /** Whether a browser sends what let them in whichever page makes the request: a cookie, or what the proxy adds. */
  isAmbient: boolean
  /** The outcome of the proxy's claim; null when there is no proxy, it named no one, or it was not asked. */
  byProxy: ProxyOutcome | null
}

/** Decides who makes a call and whether they may. */
export interface Gate {
  /** Whether calls need a key: one is set, or someone has an account. */
  readonly authenticationRequired: boolean
  /** Whether people sign in with e-mail and password. */
  readonly hasAccounts: boolean
  /** The label of the single sign-on button; null when no identity provider is set up. */
  readonly singleSignOn: string | null
  /** @throws AppError `forbidden` when the call uses a host name that is not ours */
  refuseForeignHost(request: FastifyRequest): void
  /**
   * Recognises the caller of a guarded route.
   *
   * @throws AppError `unauthorized`, `forbidden` or `rate_limited`
   */
  admit(request: FastifyRequest): Promise<Access>
  /** Recognises the caller of a public route; `NOBODY` without a key. Throws for a wrong key, as `admit` does. */
  recognise(request: FastifyRequest): Promise<Recognised>
  /** Where people end their session at the proxy that signs them in; null when nowhere. */
  readonly proxySignOutUrl: string | null
  /** @throws AppError `forbidden` when a foreign web page makes the call */
  refuseForeignPage(request: FastifyRequest): void
  /**
   * Exchanges a key, or an address with its password, for a session.
   *
   * @throws AppError `unauthorized` or `rate_limited`
   */
  signIn(given: SignIn, request: FastifyRequest): Promise<Access>
  /**
   * Ends the session of the request's cookie, if it has one.
   *
   * @returns where to end the session at the identity provider, or at the proxy that signed the caller in; null when nowhere
   */
  signOut(request: FastifyRequest): Promise<string | null>
}

export function createGate({ settings, credentials, publicUrl, clock, warn }: GateOptions): Gate {
  const hasKey = settings.adminToken !== null || settings.needsAccounts === true
  const authenticationRequired = (): boolean => hasKey || credentials.hasAccounts()
  const roleOf = tokenRoles(settings)
  const throttle = createThrottle(clock)
  const claimOf = settings.proxy == null ? () => null : proxyClaimReader(settings.proxy, clock, warn)
  const proxySignOutUrl = settings.proxy?.signOutUrl ?? null
  const names = { publicUrl, listensOnLoopback: settings.listensOnLoopback, machine: hostname() }

  const isByOwnName = (request: FastifyRequest): boolean => isOwnHost(request.headers.host ?? '', names)

  /**
   * Whose failures count together. A page that points its own name to us (DNS rebinding) guesses from the address of the person
   * who looks at it; that must not lock out those who call us by our name.
   */
  const guesserOf = (request: FastifyRequest): Guesser => ({ address: request.ip, isByOwnName: isByOwnName(request) })

  /** @throws AppError when the token is wrong, or the address has to wait; then even a correct one is refused */
  function roleOfToken(token: string, request: FastifyRequest): Role {
    const role = roleOf(token)
    const guesser = guesserOf(request)
    const wait = throttle.wait(guesser, role)
    if (role === null) throttle.failed(guesser)
    if (wait > 0) throw tooManyFailures(wait)
    if (role === null) throw new AppError('unauthorized', 'The key is not valid')
    throttle.succeeded(guesser, role)
    return role
  }

  const known = async (credential: string): Promise<Access | undefined> =>
    (await credentials.accessesOf([credential])).get(credential)

  async function accessBySession(request: FastifyRequest): Promise<Access> {
    const cookie = cookieOf(request)
    return (cookie === null ? undefined : await known(cookie)) ?? NOBODY
  }

  /** @throws AppError `unauthorized`, `rate_limited` or `unavailable` */
  async function ownerOfPassword(given: PasswordSignIn, request: FastifyRequest): Promise<PasswordOwner> {
    const { email } = given
    const guesser = guesserOf(request)
    const wait = throttle.waitForPassword(guesser, email)
    if (wait > 0) throw tooManyFailures(wait)
    const outcome = await throttle.tryPassword(guesser, email, () => credentials.authenticate(given))
    if (outcome.kind === 'wrong') throw new AppError('unauthorized', 'The address or the password is wrong')
    // The account itself counts wrong codes.
    throttle.passwordRight(guesser, email)
    if (outcome.kind === 'right') return outcome.owner
    if (outcome.kind === 'wait') throw tooManyCodes(outcome.ms)
    const message = outcome.kind === 'code_needed' ? 'is needed, too' : 'is wrong, or was already used'
    throw new AppError('unauthorized', `The code ${message}`, [{ path: '/code', message }])
  }

  async function begin(owner: SessionOwner, request: FastifyRequest): Promise<Access> {
    const access = await known(await credentials.begin(owner, request.headers['user-agent']))
    if (access === undefined) throw new AppError('unauthorized', 'This account cannot sign in')
    return access
  }

  function refuseForeignHost(request: FastifyRequest): void {
    if (isByOwnName(request)) return
    throw new AppError(
      'forbidden',
      `This service does not answer under the host name ${request.headers.host}: set PUBLIC_URL to it, or use the IP address`,
    )
  }

  function refuseForeignPage(request: FastifyRequest): void {
    const { origin } = request.headers
    if (origin === undefined || !changesState(request.method)) return
    if (!isOwnOrigin(origin, request.host, publicUrl)) {
      throw new AppError(
        'forbidden',
        `Pages of ${origin} may not change anything here: only pages under PUBLIC_URL may`,
      )
    }
  }

  async function admitOpen(request: FastifyRequest): Promise<Access> {
    refuseForeignPage(request)
    return OPEN
  }

  async function byProxyOf(request: FastifyRequest): Promise<ProxyOutcome | null> {
    const claim = claimOf(request.raw)
    return claim === null || credentials.ofProxy === undefined ? null : credentials.ofProxy(claim)
  }

  async function identify(request: FastifyRequest): Promise<Recognised> {
    const token = bearerToken(request.headers.authorization)
    if (token !== null) {
      // 32 random bytes cannot be guessed, so a correct one is let in whatever else its address got wrong.
      const access = isApiToken(token) ? await known(token) : undefined
      return { access: access ?? accessOf(roleOfToken(token, request)), isAmbient: false, byProxy: null }
    }
    // The proxy's claim counts before a session, which may be a previous person's. A refused caller may still have a session.
    const byProxy = await byProxyOf(request)
    const access = byProxy !== null && 'access' in byProxy ? byProxy.access : await accessBySession(request)
    return { access, isAmbient: true, byProxy }
  }

  async function admitKnown(request: FastifyRequest): Promise<Access> {
    const { access, isAmbient, byProxy } = await identify(request)
    if (access.role === 'nobody') {
      const problem = byProxy !== null && 'problem' in byProxy ? byProxy.problem : null
      throw new AppError(
        'unauthorized',
        problem === null
          ? 'A key is required: send "Authorization: Bearer …" or sign in'
          : `The proxy in front names someone who may not sign in: ${problem}`,
      )
    }
    requireRole(access, request)
    if (!changesState(request.method)) return access
    // Browsers send cookies automatically, as the proxy does its headers, so a change needs proof that it comes from one of our
    // pages. Browsers do not send `Authorization` automatically.
    if (isAmbient) {
      if (request.headers.origin === undefined) {
        const what = access.session === null ? "the proxy's sign-in" : 'the session cookie'
        throw new AppError('forbidden', `A change with ${what} needs an Origin header`)
      }
      refuseForeignPage(request)
    }
    return access
  }

  return {
    get authenticationRequired() {
      return authenticationRequired()
    },
    get hasAccounts() {
      return settings.needsAccounts === true || credentials.hasAccounts()
    },
    singleSignOn: settings.singleSignOn ?? null,
    refuseForeignHost,
    admit: (request) => (authenticationRequired() ? admitKnown(request) : admitOpen(request)),
    recognise: async (request) =>
      authenticationRequired() ? identify(request) : { access: OPEN, isAmbient: true, byProxy: null },
    proxySignOutUrl,
    refuseForeignPage,
    async signIn(given, request) {
      if ('token' in given) return begin({ role: roleOfToken(given.token, request) }, request)
      return begin(await ownerOfPassword(given, request), request)
    },
    async signOut(request) {
      const cookie = cookieOf(request)
      const providerUrl = cookie === null ? null : await credentials.end(cookie)
      return claimOf(request.raw) === null ? providerUrl : proxySignOutUrl
    },
  }
}

const tooManyFailures = (waitMs: number): RateLimitedError =>
  mustWait('Too many failed sign-ins from this address', waitMs)

/** Null for a cookie that cannot be one of ours, which saves looking it up. */
function cookieOf(request: FastifyRequest): string | null {
  const cookie = request.cookies[SESSION_COOKIE]
  return cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : null
}

/**
 * Puts the gate before every route, including unknown paths: it checks the host name and, under `/api`, the key, except on routes
 * declared public.
 */
export function guardApi(app: HttpApp, gate: Gate): void {
  app.decorateRequest('access')
  app.addHook('onRequest', async (request) => {
    request.access = NOBODY
    const { access, host = 'own-while-open', pages } = request.routeOptions.config
    if (host === 'own' || (host === 'own-while-open' && !gate.authenticationRequired)) gate.refuseForeignHost(request)
    if (pages === 'own') gate.refuseForeignPage(request)
    if (!isUnderApi(request)) return
    if (access === 'public') gate.refuseForeignPage(request)
    else request.access = await gate.admit(request)
  })
}

/** Decides by the pattern of the matched route, not by the address's text, which has many spellings. */
function isUnderApi(request: FastifyRequest): boolean {
  return /^\/api(?:\/|$)/.test(request.routeOptions.url ?? pathOf(request.url))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Returns a function that finds a token's role, or null. It compares digests in constant time: they have one length whatever was
 * sent, and the duration reveals nothing about a guess.
 */
function tokenRoles(settings: Pick<AccessSettings, 'adminToken' | 'viewerToken'>) {
  const known: { role: Role; digest: Buffer }[] = []
  if (settings.adminToken !== null) known.push({ role: 'admin', digest: digest(settings.adminToken) })
  if (settings.viewerToken !== null) known.push({ role: 'viewer', digest: digest(settings.viewerToken) })
  return (token: string): Role | null => {
    const given = digest(token)
    return known.filter((entry) => timingSafeEqual(entry.digest, given))[0]?.role ?? null
  }
}

/** The token of an `Authorization: Bearer …` header, or null without one. */
function bearerToken(header: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null
}

/**
 * Whether a web page of `origin` is ours: served under `PUBLIC_URL`, or under the host that the request went to. For the latter
 * the scheme is not compared, because a proxy that ends TLS leaves us with http.
 */
export function isOwnOrigin(origin: string, host: string, publicUrl: string | null): boolean {
  const page = URL.parse(origin)
  if (page === null || !/^https?:$/.test(page.protocol)) return false
  if (publicUrl !== null && page.origin === URL.parse(publicUrl)?.origin) return true
  return page.host === hostOf(host, page.protocol)
}

/** What the service's own host names are derived from. */
interface OwnNames {
  publicUrl: string | null
  /** Whether only this machine can connect; then no other machine's resolver has a name for it. */
  listensOnLoopback: boolean
  /** This machine's name in the operating system. */
  machine: string
}

/**
 * Whether `host` (a Host header as received, never what a proxy or a page says about it) is one of this service's own names. Any
 * web page can point a name of its own to an internal address (DNS rebinding). The browser then takes our answers for that page's
 * own, and only the name gives it away. An IP address cannot be rebound. Nor can a name without a dot: no one outside can
 * register one, so it comes from the local network, which can reach us anyway.
 */
export function isOwnHost(host: string, { publicUrl, listensOnLoopback, machine }: OwnNames): boolean {
  // Browsers always send a Host; a client that sends none (HTTP/1.0) is no browser.
  if (host === '') return true
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  if (name === undefined || name === '') return false
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === URL.parse(publicUrl ?? '')?.hostname) return true
  if (listensOnLoopback) return false
  const own = machine.toLowerCase()
  return !name.includes('.') || name === own || name === `${own}.local`
}

/** The host without the scheme's default port, as in a URL's `host`. */
const hostOf = (host: string, protocol: string): string | undefined => URL.parse(`${protocol}//${host}`)?.host
