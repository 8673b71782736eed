import type { Status } from '../../api/overview.ts'
import type { SiteKeyRecord } from '../../api/site-keys.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** Default time that the old key stays valid, ms. */
export const OVERLAP_MS = 7 * DAY

export const isAccepted = ({ state }: SiteKeyRecord): boolean => state === 'valid' || state === 'expiring'

/** A key's state as a status: one that expires or is refused while it is still used needs attention. */
export function keyStatus(key: SiteKeyRecord, now: number): Status {
  if (key.state === 'valid') return 'ok'
  if (key.state === 'expiring') return isInUse(key, now) ? 'warning' : 'ok'
  return isInUse(key, now) ? 'critical' : 'unknown'
}

/** Whether the key was used recently; senders are rarely silent for an hour. */
export const isInUse = ({ last_used_at }: SiteKeyRecord, now: number): boolean =>
  last_used_at !== null && now - Date.parse(last_used_at) < HOUR

/** The most important warning about a site's keys; null when all is well. */
export function warningOf(keys: readonly SiteKeyRecord[]): string | null {
  const accepted = keys.filter(isAccepted)
  if (accepted.length === 0) return 'No key is valid: every request of this site is refused. Add a key.'
  if (accepted.every(({ state }) => state === 'expiring')) {
    return 'Every key of this site ends soon, and then every request is refused. Add a key.'
  }
  return null
}
