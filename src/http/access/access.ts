import { DAY, HOUR } from '../../lib/index.ts'

/** What a key allows: an admin reads and changes everything, a viewer reads without secrets. */
export type Role = 'admin' | 'viewer'

/** Who makes a call. `open`: no key is set up, so anyone who reaches the service manages it. `nobody`: a public route. */
export interface Access {
  role: Role | 'open' | 'nobody'
  /** As the audit log names them. */
  actor: string
  /** The session by which they are let in, as in its cookie; null: by a key sent along, or without one. */
  session: string | null
}

export interface AccessSettings {
  adminToken: string | null
  viewerToken: string | null
  /** Whether only this machine can connect; it is then known by fewer names. */
  listensOnLoopback: boolean
}

export const OPEN: Access = { role: 'open', actor: 'anonymous', session: null }
export const NOBODY: Access = { role: 'nobody', actor: 'nobody', session: null }
export const accessOf = (role: Role, session: string | null = null): Access => ({ role, actor: role, session })

/** Whether ingest keys, webhooks and e-mail addresses may be in the answer. */
export const seesSecrets = ({ role }: Access): boolean => role === 'admin' || role === 'open'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. */
    access: Access
  }
  interface FastifyContextConfig {
    /** A route under `/api` that needs no key. Every other one does. */
    access?: 'public'
    /**
     * By which names the service may be called on this route. `own`: by its own alone, against DNS rebinding; the default asks
     * that while no key is set up, for then a page that is let in is admin. `any`: what it asks for, no page can know.
     */
    host?: 'own' | 'own-while-open' | 'any'
    /** `own`: refuses changes that foreign web pages ask for, on a route outside of `/api`. Those under it always do. */
    pages?: 'own'
  }
}

export const SESSION_COOKIE = 'tagwarden_session'
/** A viewer changes nothing and sees no secrets: a screen on a wall, which no one signs in again, can stay signed in for weeks. ms */
export const SESSION_MS: Readonly<Record<Role, number>> = { admin: 12 * HOUR, viewer: 30 * DAY }

/** Who is signed in, by the value of the session cookie. All nodes see the same. */
export interface Sessions {
  /** Begins a session of the role's `SESSION_MS` and resolves to the cookie's value, which says nothing and cannot be guessed. */
  begin(role: Role): Promise<string>
  /** The role a cookie's value stands for; null when the session has ended, or there never was one. */
  roleOf(value: string): Promise<Role | null>
  /** The roles of those of many values that stand for one, all asked for at once. */
  rolesOf(values: readonly string[]): Promise<ReadonlyMap<string, Role>>
  /** From now on the value is no session. */
  end(value: string): Promise<void>
}
