/** Maximum delay between the beginning and its detection that counts as none. */
const AT_ONCE_MS = 60_000

interface Detected {
  started_at: string
  opened_at: string
}

export const isDetectedAtOnce = ({ started_at, opened_at }: Detected): boolean =>
  Date.parse(opened_at) - Date.parse(started_at) < AT_ONCE_MS

/**
 * When an alert began and, if later, when it was detected: "started 15:08" and "detected 15:16", or "since 15:08" and null.
 *
 * @param clock formats a time (epoch ms) for the page
 */
export function onset(alert: Detected, clock: (at: number) => string): { began: string; detected: string | null } {
  const [began, seen] = [Date.parse(alert.started_at), Date.parse(alert.opened_at)]
  if (isDetectedAtOnce(alert)) return { began: `since ${clock(began)}`, detected: null }
  return { began: `started ${clock(began)}`, detected: `detected ${clock(seen)}` }
}

/** Both in one line; null when it was detected at once. */
export function onsetLine(alert: Detected, clock: (at: number) => string): string | null {
  const { began, detected } = onset(alert, clock)
  return detected === null ? null : `${began} · ${detected}`
}
