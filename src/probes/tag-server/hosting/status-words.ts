import type { CheckFinding } from '../check-finding.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const BAD = words(
  'blocked canceled cancelled crashed critical dead deleted disabled down error expired failed failing failure inactive ' +
    'invalid not offline paused stopped suspended terminated unhealthy unavailable',
)
const CHANGING = words(
  'creating degraded deploying deleting draining initializing maintenance migrating pending processing progress ' +
    'provisioning queued restarting scaling starting stopping updating validating verifying waiting warning',
)
const GOOD = words(
  'active available deployed enabled healthy live ok online operational ready running success up valid verified',
)

/**
 * What a host's word for the state of something means. A word of trouble outweighs the others (`not running`).
 *
 * @param okStatuses words that people said are fine, in any case
 * @returns null for words that say nothing to this program
 */
export function meaningOf(label: string, okStatuses: readonly string[]): 'ok' | 'warning' | 'critical' | null {
  const text = label.trim().toLowerCase()
  if (okStatuses.some((word) => word.trim().toLowerCase() === text)) return 'ok'
  const parts = text.split(/[^\p{L}]+/u)
  if (parts.some((part) => BAD.has(part))) return 'critical'
  if (parts.some((part) => CHANGING.has(part))) return 'warning'
  return parts.some((part) => GOOD.has(part)) ? 'ok' : null
}

/** @param what as in `the container` */
export function judgeStatus(check: string, what: string, label: string, okStatuses: readonly string[]): CheckFinding {
  const meaning = meaningOf(label, okStatuses)
  if (meaning !== null) return { check, status: meaning, message: `${what} is "${label}"` }
  const message = `${what} is "${label}", a status this program does not know: name it in ok_statuses if it is fine`
  return { check, status: 'warning', message }
}
