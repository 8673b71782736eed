import type { PushRecord } from '../../api/probes.ts'
import { unbroken } from '../../lib/words.ts'

/** The address to call; null for viewers. Without `PUBLIC_URL` it is at this page's origin. @param origin of this page */
export const pushAddress = ({ token, url }: Pick<PushRecord, 'token' | 'url'>, origin: string): string | null =>
  url ?? (token === null ? null : `${origin}/push/${token}`)

/** A curl command that retries long enough for a restart of the service. */
export const curlLine = (address: string): string => `curl -fsS -m 10 --retry 5 -o /dev/null ${address}`

/** @param periodMinutes how often the job must call */
export const crontabLine = (address: string, periodMinutes: number): string =>
  `${scheduleOf(periodMinutes)} your-job; ${curlLine(`${address}/$?`)}`

/** A cron schedule that calls at least this often. */
export function scheduleOf(minutes: number): string {
  if (minutes < 60) return `*/${stepOf(minutes, 60)} * * * *`
  if (minutes < 1_440) return `0 */${stepOf(Math.floor(minutes / 60), 24)} * * *`
  return minutes < 10_080 ? '30 3 * * *' : '30 3 * * 1'
}

/** The largest step up to `most` that divides `whole`; others would be uneven at the end. */
function stepOf(most: number, whole: number): number {
  let step = Math.max(1, most)
  while (whole % step !== 0) step--
  return step
}

/** `42 s`, `12 min 5 s` */
export function durationWords(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return unbroken(`${seconds} s`)
  const minutes = Math.floor(seconds / 60)
  return unbroken(
    minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`,
  )
}
