import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { KnownCredentials } from './credentials.ts'
import type { LinkOptions } from './links.ts'
import type { GroupRole } from './oidc/group-roles.ts'
import type { OidcProvider } from './oidc/provider.ts'

/** What the accounts' routes need. */
export interface AccountOptions extends LinkOptions {
  store: Store
  clock: Clock
  credentials: KnownCredentials
  /** Null where people do not sign in with an identity provider. */
  provider: OidcProvider | null
  groupRoles: readonly GroupRole[]
  /** Identity provider and proxy with which people sign in. */
  issuers: readonly string[]
  onError: (error: Error, what: string) => void
  /** Warns the operator about something that a third party did. */
  warn: (facts: object, message: string) => void
}
