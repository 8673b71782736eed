import type { RecentAnswer } from '../../api/analytics.ts'
import { duration } from '../../lib/words.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Ingest books events at its own time from here on. */
const AHEAD_MAX = 5 * MINUTE
const BEHIND_MAX = DAY
/** Batches and queues are late by less. */
const LATE_MAX = 10 * MINUTE
/** The year 2001 in ms, and far off in seconds. */
const SECONDS_MAX = 1e12

/** How far the sender's times are behind ours, ms (negative: ahead), by the median of what was kept; null: nothing was. */
function behindOf(times: readonly { sent: number; at: number }[]): number | null {
  const lags = times.map(({ sent, at }) => at - sent).sort((a, b) => a - b)
  return lags[Math.floor(lags.length / 2)] ?? null
}

/** What is wrong with the sender's clock, in words; null: nothing that its last payloads show. */
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

/** When the sender says that it was, epoch ms; of a batch its end, which is what ingest books it by. */
function timeOf(payload: RecentAnswer['accepted'][number]): number | null {
  for (const field of ['timestamp_ms', 'window_end_ms']) {
    const time: unknown = Reflect.get(payload, field)
    if (typeof time === 'number') return time
  }
  return null
}
