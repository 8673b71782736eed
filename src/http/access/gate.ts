import '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import { AppError, type Clock } from '../../lib/index.ts'
import { RateLimitedError } from '../errors.ts'
import { type Access, type AccessSettings, accessOf, NOBODY, OPEN, type Role } from './access.ts'
import { changesState, isLocalHost, isOwnOrigin } from './origin.ts'
import { readSession, SESSION_COOKIE, SESSION_MS, sessionKey, signSession } from './session.ts'
import { createThrottle } from './throttle.ts'
import { bearerToken, tokenRoles } from './tokens.ts'

export interface GateOptions {
  settings: AccessSettings
  publicUrl: string | null
  clock: Clock
}

/** Decides who makes a call and whether they may. */
export interface Gate {
  readonly authenticationRequired: boolean
  /**
   * Who makes a call to a guarded route.
   *
   * @throws AppError `unauthorized`, `forbidden` or `rate_limited`.
   */
  admit(request: FastifyRequest): Access
  /** Who makes a call to a public route; `NOBODY` without a key. Throws for a wrong one, like `admit`. */
  recognise(request: FastifyRequest): Access
  /** @throws AppError `forbidden` when a foreign web page makes the call. */
  refuseForeignPage(request: FastifyRequest): void
  /**
   * Exchanges a token for its role and the value of a session cookie.
   *
   * @throws AppError `unauthorized` or `rate_limited`.
   */
  signIn(token: string, address: string): { role: Role; cookie: string }
}

export function createGate({ settings, publicUrl, clock }: GateOptions): Gate {
  const authenticationRequired = settings.adminToken !== null
  const roleOf = tokenRoles(settings)
  const key = sessionKey(settings)
  const throttle = createThrottle(clock)

  /** @throws AppError when the token is wrong, or the address has to wait: then even a right one is not looked at. */
  function roleOfToken(token: string, address: string): Role {
    const wait = throttle.wait(address)
    if (wait > 0) throw new RateLimitedError('Too many failed sign-ins from this address', Math.ceil(wait / 1_000))
    const role = roleOf(token)
    if (role === null) {
      throttle.failed(address)
      throw new AppError('unauthorized', 'The key is not valid')
    }
    throttle.succeeded(address)
    return role
  }

  function sessionRole(request: FastifyRequest): Role | null {
    const cookie = request.cookies[SESSION_COOKIE]
    return cookie === undefined ? null : readSession(key, cookie, clock.now())
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

  function admitOpen(request: FastifyRequest): Access {
    if (settings.listensOnLoopback && !isLocalHost(request.host, publicUrl)) {
      throw new AppError(
        'forbidden',
        `This service is not known as ${request.host}: set PUBLIC_URL if it is, or use 127.0.0.1`,
      )
    }
    refuseForeignPage(request)
    return OPEN
  }

  function identify(request: FastifyRequest): { access: Access; byCookie: boolean } {
    const token = bearerToken(request.headers.authorization)
    if (token !== null) return { access: accessOf(roleOfToken(token, request.ip)), byCookie: false }
    const role = sessionRole(request)
    return { access: role === null ? NOBODY : accessOf(role), byCookie: true }
  }

  function admitKnown(request: FastifyRequest): Access {
    const { access, byCookie } = identify(request)
    if (access.role === 'nobody') {
      throw new AppError('unauthorized', 'A key is needed: send "Authorization: Bearer …" or sign in')
    }
    if (!changesState(request.method)) return access
    if (access.role === 'viewer') throw new AppError('forbidden', 'This key reads only')
    // Browsers send cookies by themselves, so a change needs proof that a page of ours asks for it. They send no
    // `Authorization` by themselves.
    if (byCookie) {
      if (request.headers.origin === undefined) {
        throw new AppError('forbidden', 'A change with the session cookie needs an Origin header')
      }
      refuseForeignPage(request)
    }
    return access
  }

  return {
    authenticationRequired,
    admit: authenticationRequired ? admitKnown : admitOpen,
    recognise: (request) => (authenticationRequired ? identify(request).access : OPEN),
    refuseForeignPage,
    signIn(token, address) {
      const role = roleOfToken(token, address)
      return { role, cookie: signSession(key, role, clock.now() + SESSION_MS) }
    },
  }
}
