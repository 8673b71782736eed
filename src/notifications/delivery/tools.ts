import type { Membership } from '../../cluster/index.ts'
import { type Clock, SECOND } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import type { Reach } from '../channel.ts'
import type { DeliveredHook } from '../delivered.ts'
import type { ServiceKind } from '../services/services.ts'
import type { SendOutcome, Transports } from '../transport.ts'

/** What sending works with. */
export interface DeliveryTools {
  store: Store
  clock: Clock
  membership: Pick<Membership, 'nodeId' | 'isSurelyAlive'>
  transports: Transports
  reach: Reach
  /** `PUBLIC_URL` without a slash at its end. Known when the service listens, and not before. */
  publicUrl: () => string
  /** Of 0 … 1, for jitter. */
  random: () => number
  timings: DeliveryTimings
  onError: (error: Error, what: string) => void
  /** What else is written when messages about alerts were delivered. */
  onDelivered: DeliveredHook
  /** Called after each attempt with its outcome. */
  onOutcome: (kind: ServiceKind, outcome: SendOutcome['kind']) => void
}

export interface DeliveryTimings {
  /** What an attempt may take. */
  chatMs: number
  emailMs: number
  /** Before the store is asked again to write down what was sent. */
  storeRetryMs: number
  /** How long a channel waits after so many failures in a row; `backoffMs`, unless a test has no time. */
  backoffMs: (failures: number, retryAfterMs: number | undefined, random: number) => number
}

/** A mail server may look up names and scan for viruses before it answers. */
export const ATTEMPT_MS = { chatMs: 10 * SECOND, emailMs: 30 * SECOND }
