import {
  type Access,
  type Authenticated,
  accessOf,
  type Credentials,
  emailKey,
  isApiToken,
  joined,
  NO_GRANTS,
  type PasswordSignIn,
  type ProxyClaim,
  type ProxyOutcome,
  type Role,
  SESSION_MS,
  type SessionOwner,
} from '../http/index.ts'
import { AppError, asError, type Clock, hashOf, MINUTE, newId, newSecret, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { keyPrints, Passwords } from './passwords.ts'
import { isProxyCredential, type ProxySignIn } from './proxy-sign-in.ts'
import { grantsByIdentity, grantsByUser } from './roles.ts'
import { agentClass, renewHash } from './sessions.ts'
import { accessesOfTokens } from './tokens.ts'
import { asksForCode, requireNoCode, tryCode } from './two-step/second-step.ts'

export interface CredentialOptions {
  store: Store
  clock: Clock
  /** The key of each role; null when no one can sign in with that role. */
  tokens: Readonly<Record<Role, string | null>>
  passwords?: Passwords | undefined
  /** The identity provider for single sign-on; sessions that began at another one have ended. Null or left out for none. */
  provider?: SessionProvider | null
  /** Signs people in by a proxy in front; null or left out for none. */
  proxy?: ProxySignIn | null
  /** Most sessions of one role; another one ends the oldest. */
  maxSessions?: number
  onError: (error: Error, what: string) => void
}

/** What sessions need from the identity provider. */
export interface SessionProvider {
  settings: { issuer: string }
  signOutUrl: (hint: string | null) => Promise<string | null>
}

const MAX_SESSIONS = 1_000
const MAX_SESSIONS_OF_USER = 20

/** Resolution of a session's last use, ms, so that not every call writes it. */
const SEEN_EVERY_MS = MINUTE
/** How old the answer to whether anyone has an account may be, ms. */
const FRESH_MS = SECOND

/** Credentials, and what only the accounts' routes need. */
export interface KnownCredentials extends Credentials {
  readonly passwords: Passwords
  /** Makes the service require sign-ins at once, now that someone has an account. */
  noteAccount(): void
}

/**
 * Sessions as rows that all nodes share. A row contains the cookie's hash and the key's scrypt hash, never the cookie or key: no
 * one can sign in with a copy of the database or of a backup. A session ends when its key or password changes.
 */
export async function createCredentials(options: CredentialOptions): Promise<KnownCredentials> {
  const { store, clock, tokens, maxSessions = MAX_SESSIONS, passwords = new Passwords(), onError } = options
  const provider = options.provider ?? null
  const proxy = options.proxy ?? null
  const printOf = keyPrints(tokens)

  const printOfOwner = async (owner: SessionOwner): Promise<string | null> => {
    if ('role' in owner) return printOf(owner.role)
    // By the password that was compared: the current one may be another.
    return 'origin' in owner ? hashOf(owner.origin.identityId) : owner.passwordPrint
  }

  async function begin(owner: SessionOwner, agent?: string): Promise<string> {
    const isUser = 'userId' in owner
    const origin = 'origin' in owner ? owner.origin : null
    const print = await printOfOwner(owner)
    if (print === null) throw new Error('no one can sign in this way')
    const value = newSecret()
    const now = clock.now()
    const role = isUser ? 'user' : owner.role
    await store.write.transaction().execute(async (trx) => {
      const userId = isUser ? owner.userId : null
      // The account before its sessions, the order in which others lock them.
      if (userId !== null) {
        const { numUpdatedRows } = await trx
          .updateTable('users')
          .set({ last_sign_in_at: now })
          .where('id', '=', userId)
          .where('disabled_at', 'is', null)
          .executeTakeFirst()
        // Disabled or deleted since it was recognised: a session would work again once the account is enabled.
        if (numUpdatedRows === 0n) throw new AppError('unauthorized', 'This account cannot sign in')
      }
      if ('passwordPrint' in owner && !owner.hasSentCode) await requireNoCode(trx, owner.userId)
      await trx.deleteFrom('sign_ins').where('expires_at', '<=', now).execute()
      const most = isUser ? MAX_SESSIONS_OF_USER : maxSessions
      const oldest = await trx
        .selectFrom('sign_ins')
        .select('expires_at')
        .where('role', '=', role)
        .$if(userId !== null, (all) => all.where('user_id', '=', userId))
        .orderBy('expires_at', 'desc')
        .limit(1)
        .offset(most - 1)
        .executeTakeFirst()
      if (oldest !== undefined) {
        await trx
          .deleteFrom('sign_ins')
          .where('role', '=', role)
          .$if(userId !== null, (all) => all.where('user_id', '=', userId))
          .where('expires_at', '<=', oldest.expires_at)
          .execute()
      }
      await trx
        .insertInto('sign_ins')
        .values({
          id: hashOf(value),
          role,
          token_print: print,
          expires_at: now + SESSION_MS[role],
          user_id: userId,
          public_id: newId(),
          created_at: now,
          last_seen_at: now,
          agent: agentClass(agent),
          identity_id: origin?.identityId ?? null,
          sign_out_hint: origin?.signOutHint ?? null,
        })
        .execute()
    })
    return value
  }

  async function accessesOfCookies(cookies: readonly string[]): Promise<[string, Access][]> {
    const byHash = new Map(cookies.map((cookie) => [hashOf(cookie), cookie]))
    const rows = await store.read
      .selectFrom('sign_ins')
      .leftJoin('users', 'users.id', 'sign_ins.user_id')
      .leftJoin('user_identities', 'user_identities.id', 'sign_ins.identity_id')
      .select(['sign_ins.id', 'sign_ins.role', 'token_print', 'sign_ins.user_id', 'last_seen_at', 'identity_id'])
      .select(['users.email', 'users.name', 'password_hash', 'disabled_at', 'issuer'])
      .where('sign_ins.id', 'in', [...byHash.keys()])
      .where('expires_at', '>', clock.now())
      .execute()
    const grants = await grantsByUser(
      store.read,
      rows.flatMap(({ user_id }) => user_id ?? []),
    )
    const byGroups = await grantsByIdentity(
      store.read,
      rows.flatMap(({ identity_id }) => identity_id ?? []),
    )
    const found: [string, Access][] = []
    for (const row of rows) {
      const cookie = byHash.get(row.id)
      if (cookie === undefined) continue
      const { role, user_id: id, email, name } = row
      if (role !== 'user') {
        if (row.token_print === (await printOf(role))) found.push([cookie, accessOf(role, cookie)])
      } else if (id !== null && email !== null && name !== null && row.disabled_at === null) {
        if (!isStillRecognised(row)) continue
        const byHand = grants.get(id) ?? NO_GRANTS
        found.push([
          cookie,
          {
            role,
            actor: email,
            session: cookie,
            credential: cookie,
            person: { id, email, name },
            holder: id,
            // Roles from groups last as long as the provider vouches for them, so they are not part of a session with a password.
            grants: row.identity_id === null ? byHand : joined(byHand, byGroups.get(row.identity_id) ?? NO_GRANTS),
          },
        ])
      }
    }
    await noteSeen(rows.filter(({ last_seen_at }) => isStale(last_seen_at)).map(({ id }) => id))
    return found
  }

  /** Whether what a session began with is still valid: the password, or signing in with this provider. */
  function isStillRecognised(row: {
    token_print: string
    password_hash: string | null
    identity_id: string | null
    issuer: string | null
  }): boolean {
    if (row.identity_id !== null) return provider !== null && row.issuer === provider.settings.issuer
    return row.password_hash !== null && row.token_print === hashOf(row.password_hash)
  }

  const isStale = (seenAt: number | null): boolean => seenAt !== null && clock.now() - seenAt >= SEEN_EVERY_MS

  /** Logs failures instead of throwing, so that people get in while nothing can be written. */
  async function noteSeen(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const now = clock.now()
    await store.write
      .updateTable('sign_ins')
      .set({ last_seen_at: now })
      .where('id', 'in', [...ids])
      .execute()
      .catch((thrown: unknown) => onError(asError(thrown), 'noting who was here'))
  }

  async function accessesOf(values: readonly string[]): Promise<ReadonlyMap<string, Access>> {
    const { token = [], proxy: named = [], cookie = [] } = Object.groupBy(values, kindOf)
    return new Map([
      ...(cookie.length === 0 ? [] : await accessesOfCookies(cookie)),
      ...(token.length === 0 ? [] : await accessesOfTokens(options, token)),
      ...(named.length === 0 || proxy === null ? [] : await proxy.accessesOf(named)),
    ])
  }

  async function end(value: string): Promise<string | null> {
    const id = hashOf(value)
    const row = await store.read
      .selectFrom('sign_ins')
      .select(['identity_id', 'sign_out_hint'])
      .where('id', '=', id)
      .executeTakeFirst()
    // Anyone can send a cookie: an unknown one costs the writer nothing.
    if (row === undefined) return null
    await store.write.deleteFrom('sign_ins').where('id', '=', id).execute()
    if (row.identity_id === null || provider === null) return null
    return provider.signOutUrl(row.sign_out_hint)
  }

  async function authenticate(given: PasswordSignIn): Promise<Authenticated> {
    const { email, password, code } = given
    const user = await store.read
      .selectFrom('users')
      .select(['id', 'password_hash', 'disabled_at'])
      .where('email_key', '=', emailKey(email))
      .executeTakeFirst()
    const stored = user?.password_hash ?? null
    const isRight = await passwords.isRight(password, stored)
    if (user === undefined || stored === null || !isRight || user.disabled_at !== null) return { kind: 'wrong' }
    const hash = passwords.isOutdated(stored) ? await passwords.hash(password) : stored
    // Changed or renewed by another sign-in meanwhile: then the password is compared with what is stored now.
    if (hash !== stored && !(await renewHash(store, user.id, stored, hash))) return authenticate(given)
    const owner = { userId: user.id, passwordPrint: hashOf(hash) }
    if (!(await asksForCode(store.read, user.id))) return { kind: 'right', owner: { ...owner, hasSentCode: false } }
    if (code === undefined) return { kind: 'code_needed' }
    const outcome = await tryCode(store, clock, user.id, code)
    if (outcome.kind === 'wait') return outcome
    return outcome.kind === 'right' ? { kind: 'right', owner: { ...owner, hasSentCode: true } } : { kind: 'code_wrong' }
  }

  const accounts = { exist: await hasAccounts(store), askedAt: performance.now() }

  function haveAccounts(): boolean {
    if (!accounts.exist && performance.now() - accounts.askedAt >= FRESH_MS) {
      accounts.askedAt = performance.now()
      void hasAccounts(store).then(
        (exist) => {
          accounts.exist ||= exist
        },
        (thrown: unknown) => onError(asError(thrown), 'looking for accounts'),
      )
    }
    return accounts.exist
  }

  function noteAccount(): void {
    accounts.exist = true
  }

  async function ofProxy(claim: ProxyClaim): Promise<ProxyOutcome> {
    if (proxy === null) throw new Error('no proxy signs people in')
    const outcome = await proxy.outcomeOf(claim)
    if ('access' in outcome) noteAccount()
    return outcome
  }

  return {
    begin,
    accessesOf,
    end,
    hasAccounts: haveAccounts,
    noteAccount,
    authenticate,
    passwords,
    ...(proxy === null ? {} : { ofProxy }),
  }
}

const kindOf = (value: string): 'token' | 'proxy' | 'cookie' =>
  isApiToken(value) ? 'token' : isProxyCredential(value) ? 'proxy' : 'cookie'

/** Whether anyone has an account. */
export async function hasAccounts({ read }: Pick<Store, 'read'>): Promise<boolean> {
  return (await read.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}
