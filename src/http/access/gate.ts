import '@fastify/cookie'
import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { AppError, type Clock } from '../../lib/index.ts'
import { RateLimitedError } from '../errors.ts'
import { type Access, type AccessSettings, accessOf, NOBODY, OPEN, type Role } from './access.ts'
import { changesState, isOwnHost, isOwnOrigin } from './origin.ts'
import { SESSION_COOKIE, type Sessions } from './session.ts'
import { createThrottle } from './throttle.ts'
import { bearerToken, tokenRoles } from './tokens.ts'

export interface GateOptions {
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
