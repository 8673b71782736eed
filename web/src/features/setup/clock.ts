import type { RecentAnswer } from '../../api/analytics.ts'
import { duration } from '../../lib/words.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Beyond these limits, ingest counts events at its own time. */
const AHEAD_MAX = 5 * MINUTE
const BEHIND_MAX = DAY
/** Batches and queues are never this late. */
const LATE_MAX = 10 * MINUTE
/** A smaller number is a time in seconds: as ms it would be before September 2001. */
const SECONDS_MAX = 1e12

/** Median time by which the sender's times are behind ours, ms (negative when ahead); null without payloads. */
function behindOf(times: readonly { sent: number; at: number }[]): number | null {
  const lags = times.map(({ sent, at }) => at - sent).sort((a, b) => a - b)
  return lags[Math.floor(lags.length / 2)] ?? null
}

/** The fault of the sender's clock in words; null when its latest payloads show none. */
export function clockFault(accepted: RecentAnswer['accepted']): string | null {
  const times = accepted.flatMap((payload) => {
    const sent = timeOf(payload)
    return sent === null ? [] : [{ sent, at: Date.parse(payload.accepted_at) }]
  })
  const behind = behindOf(times)
  if (behind === null) return null
  const inSeconds = times.filter(({ sent }) => sent > 0 && sent < SECONDS_MAX).length
  if (inSeconds > times.length / 2) {
    return 'Times are in seconds, not milliseconds, so events are counted at the time they arrive: send timestamp_ms as Date.now() gives it.'
  }
  if (behind < -AHEAD_MAX) {
    return `The clock of the sender is about ${duration(-behind)} ahead, so its events are counted at the time they arrive: set it by NTP.`
  }
  if (behind > BEHIND_MAX) {
    return `The times of events are about ${duration(behind)} old, so they are counted at the time they arrive: set the clock of the sender by NTP.`
  }
  if (behind > LATE_MAX) {
    return `The times of events are about ${duration(behind)} old, and charts show them there: set the clock of the sender by NTP, unless it sends late on purpose.`
  }
  return null
}

/** The payload's own time, epoch ms; for a batch its end, at which ingest counts it. */
function timeOf(payload: RecentAnswer['accepted'][number]): number | null {
  for (const field of ['timestamp_ms', 'window_end_ms']) {
    const time: unknown = Reflect.get(payload, field)
    if (typeof time === 'number') return time
  }
  return null
}
