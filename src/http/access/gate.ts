import '@fastify/cookie'
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { AppError, type Clock } from '../../lib/index.ts'
import { RateLimitedError } from '../errors.ts'
import type { HttpApp } from '../schemas.ts'
import {
  type Access,
  type AccessSettings,
  accessOf,
  NOBODY,
  OPEN,
  type Role,
  SESSION_COOKIE,
  type Sessions,
} from './access.ts'
import { createThrottle } from './throttle.ts'

interface GateOptions {
  settings: AccessSettings
  sessions: Sessions
  publicUrl: string | null
  clock: Clock
}

/** Decides who makes a call and whether they may. */
export interface Gate {
  readonly authenticationRequired: boolean
  /** @throws AppError `forbidden` when the call is by a name that is not ours. */
  refuseForeignHost(request: FastifyRequest): void
  /**
   * Who makes a call to a guarded route.
   *
   * @throws AppError `unauthorized`, `forbidden` or `rate_limited`.
   */
  admit(request: FastifyRequest): Promise<Access>
  /** Who makes a call to a public route; `NOBODY` without a key. Throws for a wrong one, like `admit`. */
  recognise(request: FastifyRequest): Promise<Access>
  /** @throws AppError `forbidden` when a foreign web page makes the call. */
  refuseForeignPage(request: FastifyRequest): void
  /**
   * Exchanges a token for its role and the value of a session cookie.
   *
   * @throws AppError `unauthorized` or `rate_limited`.
   */
  signIn(token: string, request: FastifyRequest): Promise<{ role: Role; cookie: string }>
  /** Ends the session of the request's cookie, if it has one. */
  signOut(request: FastifyRequest): Promise<void>
}

export function createGate({ settings, sessions, publicUrl, clock }: GateOptions): Gate {
  const authenticationRequired = settings.adminToken !== null
  const roleOf = tokenRoles(settings)
  const throttle = createThrottle(clock)
  const names = { publicUrl, listensOnLoopback: settings.listensOnLoopback, machine: hostname() }

  const isByOwnName = (request: FastifyRequest): boolean => isOwnHost(request.headers.host ?? '', names)

  /**
   * Whose failures count together. A page that has let its own name point to us guesses from the address of the person who
   * looks at it; that must not lock out those who call us by our name.
   */
  const guesserOf = (request: FastifyRequest) => ({ address: request.ip, isByOwnName: isByOwnName(request) })

  /** @throws AppError when the token is wrong, or the address has to wait: then even a right one is not looked at. */
  function roleOfToken(token: string, request: FastifyRequest): Role {
    const role = roleOf(token)
    const guesser = guesserOf(request)
    const wait = throttle.wait(guesser, role)
    if (role === null) throttle.failed(guesser)
    if (wait > 0) throw new RateLimitedError('Too many failed sign-ins from this address', Math.ceil(wait / 1_000))
    if (role === null) throw new AppError('unauthorized', 'The key is not valid')
    throttle.succeeded(guesser, role)
    return role
  }

  async function accessBySession(request: FastifyRequest): Promise<Access> {
    const cookie = cookieOf(request)
    const role = cookie === null ? null : await sessions.roleOf(cookie)
    return role === null ? NOBODY : accessOf(role, cookie)
  }

  function refuseForeignHost(request: FastifyRequest): void {
    if (isByOwnName(request)) return
    throw new AppError(
      'forbidden',
      `This service is not known as ${request.headers.host}: set PUBLIC_URL if it is, or call it by its IP address`,
    )
  }

  function refuseForeignPage(request: FastifyRequest): void {
    const { origin } = request.headers
    if (origin === undefined || !changesState(request.method)) return
    if (!isOwnOrigin(origin, request.host, publicUrl)) {
      throw new AppError(
        'forbidden',
        `Pages of ${origin} may not change anything here; PUBLIC_URL names the own address`,
      )
    }
  }

  async function admitOpen(request: FastifyRequest): Promise<Access> {
    refuseForeignPage(request)
    return OPEN
  }

  async function identify(request: FastifyRequest): Promise<Access> {
    const token = bearerToken(request.headers.authorization)
    return token === null ? accessBySession(request) : accessOf(roleOfToken(token, request))
  }

  async function admitKnown(request: FastifyRequest): Promise<Access> {
    const access = await identify(request)
    if (access.role === 'nobody') {
      throw new AppError('unauthorized', 'A key is needed: send "Authorization: Bearer …" or sign in')
    }
    if (!changesState(request.method)) return access
    if (access.role === 'viewer') throw new AppError('forbidden', 'This key reads only')
    // Browsers attach cookies automatically, so a change needs proof that a page of ours asks for it. They attach no
    // `Authorization`.
    if (access.session !== null) {
      if (request.headers.origin === undefined) {
        throw new AppError('forbidden', 'A change with the session cookie needs an Origin header')
      }
      refuseForeignPage(request)
    }
    return access
  }

  return {
    authenticationRequired,
    refuseForeignHost,
    admit: authenticationRequired ? admitKnown : admitOpen,
    recognise: async (request) => (authenticationRequired ? identify(request) : OPEN),
    refuseForeignPage,
    async signIn(token, request) {
      const role = roleOfToken(token, request)
      return { role, cookie: await sessions.begin(role) }
    },
    async signOut(request) {
      const cookie = cookieOf(request)
      if (cookie !== null) await sessions.end(cookie)
    },
  }
}

/** What cannot be one of ours is not looked up. */
function cookieOf(request: FastifyRequest): string | null {
  const cookie = request.cookies[SESSION_COOKIE]
  return cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : null
}

/**
 * Puts the gate before every route: the name by which the service is called, and under `/api` the key, but for routes that
 * are declared public. Unknown paths too.
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

/** By the pattern of the route that will answer, not by the text of the address: there is one spelling of it. */
function isUnderApi(request: FastifyRequest): boolean {
  const path = request.routeOptions.url ?? request.url
  return path === '/api' || path.startsWith('/api/') || path.startsWith('/api?')
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Returns the function that finds a token's role, or null for none. Digests are compared, in constant time: they have
 * one length whatever was sent, and how long the answer takes says nothing about how much of a guess was right.
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

/** The token of an `Authorization: Bearer …` header, or null when there is no such header. */
function bearerToken(header: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const changesState = (method: string): boolean => !SAFE_METHODS.has(method)

/**
 * Whether a web page of `origin` is ours: served under `PUBLIC_URL`, or under the host the request went to. The scheme is
 * not compared with the latter, because a proxy that ends TLS leaves us with http.
 */
export function isOwnOrigin(origin: string, host: string, publicUrl: string | null): boolean {
  const page = URL.parse(origin)
  if (page === null || !/^https?:$/.test(page.protocol)) return false
  if (publicUrl !== null && page.origin === URL.parse(publicUrl)?.origin) return true
  return page.host === hostOf(host, page.protocol)
}

/** By which names this service may be called. */
interface OwnNames {
  publicUrl: string | null
  /** Whether only this machine can connect; then no other machine's resolver has a name for it. */
  listensOnLoopback: boolean
  /** What the operating system calls this machine. */
  machine: string
}

/**
 * Whether `host` (a Host header as it came, never what a proxy or a page says about it) is a name under which this service
 * can rightly be called. Any web page can let a name of its own point to an address inside (DNS rebinding); the browser then
 * takes our answers for that page's own, and only the name gives it away. An address written out cannot be rebound. Nor can
 * a name without a dot: no one outside can register one, so it comes from the local network, which reaches us anyway.
 */
export function isOwnHost(host: string, { publicUrl, listensOnLoopback, machine }: OwnNames): boolean {
  // Browsers always send a Host; what sends none (HTTP/1.0) is no browser.
  if (host === '') return true
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  if (name === undefined || name === '') return false
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === URL.parse(publicUrl ?? '')?.hostname) return true
  if (listensOnLoopback) return false
  const own = machine.toLowerCase()
  return !name.includes('.') || name === own || name === `${own}.local`
}

/** With the scheme's default port left out, as a URL's `host` has it. */
const hostOf = (host: string, protocol: string): string | undefined => URL.parse(`${protocol}//${host}`)?.host
