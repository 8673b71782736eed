import { SECOND } from '../clock.ts'

/**
 * How long a `Retry-After` header asks to wait, in ms from `now`; null without one that can be read. It comes from
 * strangers: bound it before waiting.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  // Date.parse alone would take much more than HTTP's dates: all of these name a weekday first.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
