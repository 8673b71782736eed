import type { CheckFinding } from './check-finding.ts'

/** So many answers in a row have to be slow: one is a cold start. */
const RECENT = 3
/** Fewer answers before them do not show what is usual. */
const USUAL_MIN = 10
const KEPT = 30
const TIMES_USUAL = 3
/** An answer within this is not slow, however fast it usually is. */
const FLOOR_MS = 1_000

/** The latest answers' times with this one, oldest first. */
export const withTime = (times: readonly number[], ms: number): number[] => [...times, ms].slice(-KEPT)

export const timesIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'number') : []

/** Whether a server takes much longer than it used to. @param times of its latest answers in ms, oldest first */
export function judgeTimes(
  host: string,
  times: readonly number[],
): { usualMs: number | null; findings: CheckFinding[] } {
  const earlier = times.slice(0, -RECENT)
  if (earlier.length < USUAL_MIN) return { usualMs: null, findings: [] }
  const usualMs = earlier.toSorted((a, b) => a - b)[Math.floor(earlier.length / 2)] ?? 0
  const limit = Math.max(FLOOR_MS, TIMES_USUAL * usualMs)
  const recent = times.slice(-RECENT)
  if (recent.some((ms) => ms <= limit)) return { usualMs, findings: [] }
  const message = `${host} took ${recent.join(', ')} ms for its last answers; ${usualMs} ms is usual`
  return { usualMs, findings: [{ check: 'speed', status: 'warning', message }] }
}
