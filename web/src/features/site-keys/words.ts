import type { Status } from '../../api/overview.ts'
import type { SiteKeyRecord } from '../../api/site-keys.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** How long the old key stays valid unless another day is chosen, ms. */
export const OVERLAP_MS = 7 * DAY

export const isAccepted = ({ state }: SiteKeyRecord): boolean => state === 'valid' || state === 'expiring'

/** A key's state as a status: one that ends, or that is refused while someone sends with it, needs a person. */
export function keyStatus(key: SiteKeyRecord, now: number): Status {
  if (key.state === 'valid') return 'ok'
  if (key.state === 'expiring') return isInUse(key, now) ? 'warning' : 'ok'
  return isInUse(key, now) ? 'critical' : 'unknown'
}

/** Whether a request came with it lately: senders of a site are rarely silent for an hour. */
export const isInUse = ({ last_used_at }: SiteKeyRecord, now: number): boolean =>
  last_used_at !== null && now - Date.parse(last_used_at) < HOUR

/** What a person has to know about a site's keys before anything else; null when all is well. */
export function warningOf(keys: readonly SiteKeyRecord[]): string | null {
  const accepted = keys.filter(isAccepted)
  if (accepted.length === 0) return 'No key is valid: every request of this site is refused. Add a key.'
  if (accepted.every(({ state }) => state === 'expiring')) {
    return 'Every key of this site ends soon, and then every request is refused. Add a key.'
  }
  return null
}
