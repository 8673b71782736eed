import { DAY, HOUR, SECOND } from '../../lib/index.ts'
import {
  type Grants,
  grantedForAll,
  lowestRole,
  NO_GRANTS,
  roleFor,
  suffices,
  type Visible,
  visibleClients,
} from './grants.ts'
import '@fastify/cookie'
import type { FastifyReply } from 'fastify'

/** What a key from the settings allows: an admin reads and changes everything, a viewer reads without secrets. */
export type Role = 'admin' | 'viewer'

/** A person with an account. */
export interface Person {
  id: string
  email: string
  name: string
}

/**
 * The caller. `open`: no key is set up, so anyone who reaches the service manages it. `nobody`: on a public route, without a key.
 * A `user` and a `token` may do what their `grants` allow.
 */
export interface Access {
  role: Role | 'open' | 'nobody' | 'user' | 'token'
  /** The caller's name in the audit log. */
  actor: string
  /** The cookie of the caller's session; null when a key was sent along, or nothing. */
  session: string | null
  /** The cookie or API token that lets them in and that may end; null for what cannot end while this process runs. */
  credential: string | null
  /** Set for a user. */
  person: Person | null
  /** Id of the user or API token, by which their own things are stored; null for everyone else. */
  holder: string | null
  grants: Grants
  /** All grants, in a request about some clients; left out where `grants` are all. */
  allGrants?: Grants
}

export interface AccessSettings {
  adminToken: string | null
  viewerToken: string | null
  /** Whether people sign in with accounts although no key is set and no one has an account yet. */
  needsAccounts?: boolean
  /** The label of the single sign-on button; null or left out when no identity provider is set up. */
  singleSignOn?: string | null
  /** The headers of a reverse proxy that signs people in; null or left out when there is none. */
  proxy?: ProxyHeaders | null
  /** Whether only this machine can connect; the service then has fewer names of its own. */
  listensOnLoopback: boolean
}

const UNNAMED = { session: null, credential: null, person: null, holder: null } as const

export const OPEN: Access = { ...UNNAMED, role: 'open', actor: 'anonymous', grants: grantedForAll('owner') }
export const NOBODY: Access = { ...UNNAMED, role: 'nobody', actor: 'nobody', grants: NO_GRANTS }

/** Access by a key from the settings, sent along or exchanged for a session. */
export const accessOf = (role: Role, session: string | null = null): Access => ({
  ...UNNAMED,
  role,
  actor: role,
  session,
  credential: session,
  grants: grantedForAll(role === 'admin' ? 'owner' : 'viewer'),
})

/**
 * Whether the answer may contain ingest keys, webhooks and e-mail addresses. Viewers see none.
 *
 * @param clientId the client they belong to; when left out, the answer may cover every visible client, and the caller has to be
 * at least an editor of all of them
 */
export function seesSecrets({ grants }: Access, clientId?: string | null): boolean {
  return suffices(clientId === undefined ? lowestRole(grants) : roleFor(grants, clientId), 'editor')
}

/** Whether the caller may change what the service grants to a client: as an editor of all clients, also in a request about one. */
export const editsAll = ({ grants, allGrants = grants }: Access): boolean => suffices(allGrants.all, 'editor')

/** Whether the caller sees all clients, also in a request about one. */
export const seesAll = ({ grants, allGrants = grants }: Access): boolean => suffices(allGrants.all, 'viewer')

/** The clients that a list may cover. */
export const visibleTo = ({ grants }: Access): Visible => visibleClients(grants)

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. For a request about some clients, its grants are those for these clients. */
    access: Access
  }
  interface FastifyContextConfig {
    /** Marks a route under `/api` that needs no key. All others need one. */
    access?: 'public'
    /**
     * Which host names a call may use. `own`: only the service's own, against DNS rebinding. `own-while-open`, the default: the
     * same while no key is set up, as any page let in would then be admin. `any`: no page could know what a call needs.
     */
    host?: 'own' | 'own-while-open' | 'any'
    /** `own` refuses changes by foreign web pages on a route outside `/api`. Routes under `/api` always do. */
    pages?: 'own'
  }
}

export const SESSION_COOKIE = 'tagwarden_session'
/**
 * How long a session lasts, ms. A viewer changes nothing and sees no secrets, so a screen on a wall, where no one signs in again,
 * can stay signed in for weeks.
 */
export const SESSION_MS: Readonly<Record<Role | 'user', number>> = { admin: 12 * HOUR, viewer: 30 * DAY, user: 7 * DAY }

/** API tokens have a prefix, so that a leaked one is recognised as ours. */
export const API_TOKEN_PREFIX = 'twk_'
export const isApiToken = (value: string): boolean => /^twk_[\w-]{43}$/.test(value)

/** The identity that a session began with. */
export interface SessionOrigin {
  identityId: string
  /** What the identity provider expects at sign-out; null when nothing. */
  signOutHint: string | null
}

/** The owner of a correct password. A session that begins with it keeps `passwordPrint` and ends when the password changes. */
export interface PasswordOwner {
  userId: string
  passwordPrint: string
  /** Whether a code was right, too. Without one no session begins if the account requires one by then. */
  hasSentCode: boolean
}

/** The owner of a session; a user's began with a password or at an identity provider. */
export type SessionOwner = { role: Role } | PasswordOwner | { userId: string; origin: SessionOrigin }

/**
 * Outcome of a sign-in with a password. `code_needed`: the password is right, and the account requires a code as well. `wait`:
 * after too many wrong codes this one was not checked.
 */
export type Authenticated =
  | { kind: 'right'; owner: PasswordOwner }
  | { kind: 'wrong' | 'code_needed' | 'code_wrong' }
  | { kind: 'wait'; ms: number }

/** An address with its password, and a code if the account requires one. */
export interface PasswordSignIn {
  email: string
  password: string
  code?: string
}

/** The headers in which a reverse proxy names the person it has signed in, in lower case. */
export interface ProxyHeaders {
  email: string
  name: string | null
  groups: string | null
  /** Addresses and CIDR ranges that the proxy connects from. */
  addresses: readonly string[]
  /** Where people end their session at the proxy; null when nowhere. */
  signOutUrl: string | null
}

/** The person whom the proxy claims to have signed in. */
export interface ProxyClaim {
  /** Null when the header is not an e-mail address. */
  email: string | null
  name: string | null
  groups: readonly string[]
}

/** The access that a claim gives, or in one word why it gives none; the sign-in page explains these words. */
export type ProxyOutcome = { access: Access } | { problem: string }

/** Cookies, API tokens and passwords, and their owners. All nodes see the same. */
export interface Credentials {
  /**
   * Begins a session of `SESSION_MS` and resolves to the cookie's value, which is random.
   *
   * @param agent the browser's `User-Agent`; only its name and system are kept
   */
  begin(owner: SessionOwner, agent?: string): Promise<string>
  /** The access that each cookie or API token gives; values that give none (any more) are left out. */
  accessesOf(values: readonly string[]): Promise<ReadonlyMap<string, Access>>
  /**
   * Ends the session of the cookie's value.
   *
   * @returns where the browser should go to end its session at the identity provider as well; null when nowhere
   */
  end(cookie: string): Promise<string | null>
  /**
   * Whether anyone has an account, answered from memory, as the store may be unavailable. This never becomes false again; a
   * change by another node is known a second later.
   */
  hasAccounts(): boolean
  /** The outcome of the proxy's claim. Left out when people do not sign in through a proxy. */
  ofProxy?: (claim: ProxyClaim) => Promise<ProxyOutcome>
  /** Checks an address, password and code. A wrong password takes the same work whether or not there is such a user. */
  authenticate(given: PasswordSignIn): Promise<Authenticated>
}

/** Sets and clears the cookie that holds a session. */
export interface SessionCookie {
  set: (reply: FastifyReply, value: string, lastsMs: number) => FastifyReply
  clear: (reply: FastifyReply) => FastifyReply
}

/**
 * A cookie that no page can read and that browsers send with no foreign page's request.
 *
 * @param publicUrl where people reach the service. The cookie is for https only if this is https, or if a trusted proxy says that
 * the browser came by https
 */
export function sessionCookie(publicUrl: string | null): SessionCookie {
  const isHttps = publicUrl?.startsWith('https:') === true
  const optionsFor = ({ request }: FastifyReply) =>
    ({ path: '/', httpOnly: true, sameSite: 'strict', secure: isHttps || request.protocol === 'https' }) as const
  return {
    set: (reply, value, lastsMs) =>
      reply.setCookie(SESSION_COOKIE, value, { ...optionsFor(reply), maxAge: lastsMs / SECOND }),
    clear: (reply) => reply.clearCookie(SESSION_COOKIE, optionsFor(reply)),
  }
}
