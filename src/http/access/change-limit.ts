import { type Clock, monotonicOf, SECOND } from '../../lib/index.ts'
import { mustWait } from '../errors.ts'
import type { HttpApp } from '../schemas.ts'
import type { Access } from './access.ts'
import { changesState } from './scope.ts'

/** `apply` of a thousand sites with their probes passes without a wait. */
export const CHANGES_AT_ONCE = 6_000
const PER_SECOND = 10

const EACH_MS = SECOND / PER_SECOND
const FULL_MS = CHANGES_AT_ONCE * EACH_MS

/**
 * Limits how much one account or API token may change, as each change stays in the audit log for years and is read by every node:
 * a script without an end, or a leaked token, would fill both. Counted per node.
 */
export class ChangeLimit {
  readonly #clock: Clock
  /** By account or token, or the roles that several share, when all of its changes are possible at once again; the latest caller last. */
  readonly #fullAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws RateLimitedError after too many changes */
  take(holder: string): void {
    const now = monotonicOf(this.#clock)
    for (const [other, fullAt] of this.#fullAt) {
      if (fullAt > now) break
      this.#fullAt.delete(other)
    }
    const fullAt = Math.max(this.#fullAt.get(holder) ?? now, now)
    const waitMs = fullAt + EACH_MS - (now + FULL_MS)
    if (waitMs > 0) {
      const most = CHANGES_AT_ONCE.toLocaleString('en')
      throw mustWait(`At most ${most} changes at once, then ${PER_SECOND} a second`, waitMs)
    }
    this.#fullAt.delete(holder)
    this.#fullAt.set(holder, fullAt + EACH_MS)
  }
}

/**
 * Those with the same roles for the same clients count together: an owner of a client can make one token or account after the other,
 * and each would have a limit of its own. Accounts count apart from tokens, so that no script keeps a person from acknowledging.
 */
export const countedAs = ({ role, holder, grants: { all, clients } }: Access): string | null =>
  holder === null || all !== null || clients.size === 0 ? holder : JSON.stringify([role, ...[...clients].sort()])

/**
 * Limits the changes of every account and API token; added behind the gate. Not those of the keys of the settings, which are the
 * operator's, and which tools that do everything share.
 */
export function limitChanges(app: HttpApp, limit: ChangeLimit): void {
  app.addHook('onRequest', async ({ method, access }) => {
    const holder = countedAs(access)
    if (holder !== null && changesState(method)) limit.take(holder)
  })
}
