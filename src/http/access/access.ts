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

/** What a key of the settings allows: an admin reads and changes everything, a viewer reads without secrets. */
export type Role = 'admin' | 'viewer'

/** Someone with an account. */
export interface Person {
  id: string
  email: string
  name: string
}

/**
 * Who makes a call. `open`: no key is set up, so anyone who reaches the service manages it. `nobody`: a public route. A `user`
 * and a `token` may do what their `grants` say.
 */
export interface Access {
  role: Role | 'open' | 'nobody' | 'user' | 'token'
  /** As the audit log names them. */
  actor: string
  /** The session by which they are let in, as in its cookie; null: by a key sent along, or without one. */
  session: string | null
  /** Cookie or API token that lets them in and may end; null: nothing that could end while this process runs. */
  credential: string | null
  /** Of a user; null of everyone else. */
  person: Person | null
  /** Id of the user or API token, whose own things are known by it; null of everyone else. */
  holder: string | null
  grants: Grants
}

export interface AccessSettings {
  adminToken: string | null
  viewerToken: string | null
  /** Whether people sign in with accounts although no key is set and no one has an account yet. */
  needsAccounts?: boolean
  /** What people sign in with besides, as its button says; left out or null: no identity provider is set up. */
  singleSignOn?: string | null
  /** Of a reverse proxy that signs people in; left out or null: there is none. */
  proxy?: ProxyHeaders | null
  /** Whether only this machine can connect; it is then known by fewer names. */
  listensOnLoopback: boolean
}

const UNNAMED = { session: null, credential: null, person: null, holder: null } as const

export const OPEN: Access = { ...UNNAMED, role: 'open', actor: 'anonymous', grants: grantedForAll('owner') }
export const NOBODY: Access = { ...UNNAMED, role: 'nobody', actor: 'nobody', grants: NO_GRANTS }

/** Access by a key of the settings, sent along or exchanged for a session. */
export const accessOf = (role: Role, session: string | null = null): Access => ({
  ...UNNAMED,
  role,
  actor: role,
  session,
  credential: session,
  grants: grantedForAll(role === 'admin' ? 'owner' : 'viewer'),
})

/**
 * Whether ingest keys, webhooks and e-mail addresses may be in the answer. Who only reads sees none.
 *
 * @param clientId whose they are; left out: those of every client in the answer, which the caller has to be more than a viewer of all
 */
export function seesSecrets({ grants }: Access, clientId?: string | null): boolean {
  return suffices(clientId === undefined ? lowestRole(grants) : roleFor(grants, clientId), 'editor')
}

/** Whose things a list may hold. */
export const visibleTo = ({ grants }: Access): Visible => visibleClients(grants)

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. Of a request about some clients its grants are those for these clients. */
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
export const SESSION_MS: Readonly<Record<Role | 'user', number>> = { admin: 12 * HOUR, viewer: 30 * DAY, user: 7 * DAY }

/** API tokens say what they are, so that a leaked one is recognised as ours. */
export const API_TOKEN_PREFIX = 'twk_'
export const isApiToken = (value: string): boolean => /^twk_[\w-]{43}$/.test(value)

/** By whom the owner of a session was recognised. */
export interface SessionOrigin {
  identityId: string
  /** What the identity provider wants to see at the sign-out; null: nothing. */
  signOutHint: string | null
}

/** Of a password that was right what a session that begins with it is known by: it ends with that password. */
export interface PasswordOwner {
  userId: string
  passwordPrint: string
}

/** Whose a session is, and how that of a user began: with a password, or at an identity provider. */
export type SessionOwner = { role: Role } | PasswordOwner | { userId: string; origin: SessionOrigin }

/**
 * What came of a sign-in with a password. `code_needed`: the password is right, and the account asks for a code, too. `wait`: too many
 * wrong codes came before, so that this one was not looked at.
 */
export type Authenticated =
  | { kind: 'right'; owner: PasswordOwner }
  | { kind: 'wrong' | 'code_needed' | 'code_wrong' }
  | { kind: 'wait'; ms: number }

/** An address with its password, and where the account asks for it a code. */
export interface PasswordSignIn {
  email: string
  password: string
  code?: string
}

/** Where a reverse proxy says whom it has signed in. Names of headers are lower-cased. */
export interface ProxyHeaders {
  email: string
  name: string | null
  groups: string | null
  /** Addresses and CIDR ranges that it connects from. */
  addresses: readonly string[]
  /** Where people end their session there; null: nowhere. */
  signOutUrl: string | null
}

/** Whom the proxy has signed in, as it says. */
export interface ProxyClaim {
  /** Null: what it sent is no address. */
  email: string | null
  name: string | null
  groups: readonly string[]
}

/** Whom a claim stands for, or in one word why no one is let in by it, as the page of the sign-in knows it. */
export type ProxyOutcome = { access: Access } | { problem: string }

/** Cookies, API tokens and passwords, and whom they stand for. All nodes see the same. */
export interface Credentials {
  /**
   * Begins a session of `SESSION_MS` and resolves to the cookie's value, which says nothing and cannot be guessed.
   *
   * @param agent the browser's `User-Agent`; only its name and system are kept
   */
  begin(owner: SessionOwner, agent?: string): Promise<string>
  /** Whom the values stand for, cookies and API tokens alike; those that stand for no one (any more) are left out. */
  accessesOf(values: readonly string[]): Promise<ReadonlyMap<string, Access>>
  /**
   * From now on the cookie's value is no session.
   *
   * @returns where the browser should go to end its session at the identity provider, too; null: nowhere
   */
  end(cookie: string): Promise<string | null>
  /**
   * Whether anyone has an account, as known now: without a look at the store, which may be unavailable. Once someone has one,
   * someone always will; what another node did is known a second later.
   */
  hasAccounts(): boolean
  /** Whom the proxy in front has signed in. Left out: people do not sign in so. */
  ofProxy?: (claim: ProxyClaim) => Promise<ProxyOutcome>
  /** Whose address, password and code these are. A wrong password takes the same work whether or not there is such a user. */
  authenticate(given: PasswordSignIn): Promise<Authenticated>
}

/** The cookie that holds a session. */
export interface SessionCookie {
  set: (reply: FastifyReply, value: string, lastsMs: number) => FastifyReply
  clear: (reply: FastifyReply) => FastifyReply
}

/**
 * No page can read it, and no foreign page has it sent along.
 *
 * @param publicUrl where people reach the service; https there means https only, as it does where a proxy that is trusted says that the browser came by it
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
