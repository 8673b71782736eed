import {
  type Access,
  emailKey,
  highestRole,
  joined,
  NO_GRANTS,
  type ProxyClaim,
  type ProxyOutcome,
} from '../http/index.ts'
import { asError, type Clock, MINUTE, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { SignInFailure, type SignInProblem } from './oidc/failure.ts'
import { type GroupRole, warnOfClient } from './oidc/group-roles.ts'
import { SINGLE_SIGN_ON, signInIdentity } from './oidc/identities.ts'
import { grantsByIdentity, grantsByUser } from './roles.ts'

/** The issuer of people whom the proxy in front names. Not a URL, so no identity provider can have it. */
const PROXY_ISSUER = 'proxy-header'

/** Identity provider and proxy with which people sign in. */
export const issuersOf = (config: { oidcIssuer: string | null; proxyEmailHeader: string | null }): string[] =>
  [config.oidcIssuer, config.proxyEmailHeader === null ? null : PROXY_ISSUER].filter((issuer) => issuer !== null)

export interface ProxySignInOptions {
  store: Store
  clock: Clock
  groupRoles: readonly GroupRole[]
  /** Warns the operator about people who were not let in. */
  warn: (facts: object, message: string) => void
  onError: (error: Error, what: string) => void
}

type SignedIn = { identityId: string } | { problem: SignInProblem }

/** The outcome of an address's last sign-in. */
interface Kept {
  groups: string
  outcome: Promise<SignedIn>
  /** When the same claim is evaluated again; infinite while it is being evaluated. */
  until: number
}

/** How long a sign-in is reused: it writes, and the proxy names the person with every request. Changed groups count at once. */
const SIGNED_IN_MS = 5 * MINUTE
/** Short, so that someone to whom an owner gives a role need not wait. */
const REFUSED_MS = 5 * SECOND
/** Most addresses remembered; the oldest beyond them are dropped. */
const MOST_KEPT = 5_000
/** After this time what stays open, such as the event stream, has to ask the proxy again: only it knows who has signed out there. */
const CREDENTIAL_MS = 15 * MINUTE

/** Contains spaces, so no cookie or key can look like one. */
const CREDENTIAL = /^proxy (\S+) (\d+)$/
export const isProxyCredential = (value: string): boolean => CREDENTIAL.test(value)

/** Signs in people whom a reverse proxy names by address. Every request reads whether they still may. */
export class ProxySignIn {
  readonly #options: ProxySignInOptions
  readonly #kept = new Map<string, Kept>()

  constructor(options: ProxySignInOptions) {
    this.#options = options
  }

  /** @throws Error when a necessary sign-in cannot be written */
  async outcomeOf(claim: ProxyClaim): Promise<ProxyOutcome> {
    const { email } = claim
    if (email === null) return { problem: 'email' }
    for (const mayRecall of [true, false]) {
      const signedIn = await this.#signedIn(email, claim, mayRecall)
      if ('problem' in signedIn) return signedIn
      const access = (await this.accessesOf([this.#credentialOf(signedIn.identityId)]))[0]?.[1]
      // Disabled, deleted or without a role meanwhile: a new sign-in finds out which, and may create the account again.
      if (access !== undefined && highestRole(access.grants) !== null) return { access }
    }
    return { problem: 'no_role' }
  }

  /** The access that each credential gives; expired ones, and those of disabled or deleted accounts, are left out. */
  async accessesOf(credentials: readonly string[]): Promise<[string, Access][]> {
    const { store, clock } = this.#options
    const valid = credentials.flatMap((credential) => {
      const [, id = '', since] = CREDENTIAL.exec(credential) ?? []
      return clock.now() - Number(since) < CREDENTIAL_MS ? [{ credential, id }] : []
    })
    if (valid.length === 0) return []
    const ids = [...new Set(valid.map(({ id }) => id))]
    const rows = await store.read
      .selectFrom('user_identities')
      .innerJoin('users', 'users.id', 'user_identities.user_id')
      .select(['user_identities.id as identity_id', 'users.id', 'email', 'name'])
      .where('user_identities.id', 'in', ids)
      .where('issuer', '=', PROXY_ISSUER)
      .where('disabled_at', 'is', null)
      .execute()
    const userIds = rows.map(({ id }) => id)
    const [byHand, byGroups] = await Promise.all([grantsByUser(store.read, userIds), grantsByIdentity(store.read, ids)])
    const people = new Map(rows.map(({ identity_id, ...person }) => [identity_id, person]))
    return valid.flatMap(({ credential, id }): [string, Access][] => {
      const person = people.get(id)
      if (person === undefined) return []
      const grants = joined(byHand.get(person.id) ?? NO_GRANTS, byGroups.get(id) ?? NO_GRANTS)
      const who = { role: 'user', actor: person.email, session: null, credential, person, holder: person.id } as const
      return [[credential, { ...who, grants }]]
    })
  }

  #credentialOf(identityId: string): string {
    return `proxy ${identityId} ${this.#options.clock.now()}`
  }

  /** The address's last sign-in if it is recent and with the same groups, otherwise a new one. */
  async #signedIn(email: string, claim: ProxyClaim, mayRecall: boolean): Promise<SignedIn> {
    const { clock } = this.#options
    const key = emailKey(email)
    const groups = JSON.stringify(claim.groups.toSorted())
    const before = this.#kept.get(key)
    const isUnderWay = before?.until === Number.POSITIVE_INFINITY
    if (before?.groups === groups && (isUnderWay || (mayRecall && clock.now() < before.until))) return before.outcome
    const kept: Kept = { groups, until: Number.POSITIVE_INFINITY, outcome: this.#next(before, groups, email, claim) }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break
      this.#kept.delete(oldest)
    }
    try {
      const outcome = await kept.outcome
      kept.until = clock.now() + ('problem' in outcome ? REFUSED_MS : SIGNED_IN_MS)
      return outcome
    } catch (thrown) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
      throw thrown
    }
  }

  /** Signs in after the previous sign-in has ended: of two with different groups the later one counts. */
  async #next(before: Kept | undefined, groups: string, email: string, claim: ProxyClaim): Promise<SignedIn> {
    const last = await before?.outcome.catch(() => undefined)
    try {
      const outcome = await this.#signIn(email, emailKey(email), claim)
      if ('problem' in outcome) this.#warnOf(email, outcome.problem, last)
      return outcome
    } catch (thrown) {
      // Someone who was in stays in while nothing can be written.
      if (last === undefined || 'problem' in last || before?.groups !== groups) throw thrown
      this.#options.onError(asError(thrown), 'a sign-in by the proxy')
      return last
    }
  }

  async #signIn(email: string, subject: string, { name, groups }: ProxyClaim): Promise<SignedIn> {
    const { store, clock, groupRoles, warn } = this.#options
    try {
      const options = { store, clock, groupRoles, actor: SINGLE_SIGN_ON, warn: warnOfClient(warn) }
      const { identityId, userId } = await signInIdentity(options, {
        issuer: PROXY_ISSUER,
        subject,
        email,
        name,
        groups,
      })
      await store.write.updateTable('users').set({ last_sign_in_at: clock.now() }).where('id', '=', userId).execute()
      return { identityId }
    } catch (thrown) {
      if (thrown instanceof SignInFailure) return { problem: thrown.problem }
      throw thrown
    }
  }

  /** Warns once per problem, not with each attempt. */
  #warnOf(email: string, problem: SignInProblem, last: SignedIn | undefined): void {
    if (last !== undefined && 'problem' in last && last.problem === problem) return
    this.#options.warn({ problem, email }, 'the proxy names someone who may not sign in')
  }
}
