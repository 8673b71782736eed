import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { KnownCredentials } from './credentials.ts'
import type { LinkOptions } from './links.ts'

/** What the interface of the accounts works with. */
export interface AccountOptions extends LinkOptions {
  store: Store
  clock: Clock
  credentials: KnownCredentials
  onError: (error: Error, what: string) => void
}
