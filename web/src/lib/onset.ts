/** Maximum delay between the beginning and its detection that counts as none. */
const AT_ONCE_MS = 60_000

/**
 * When an alert began and, if later, when it was detected: "started 15:08" and "detected 15:16", or "since 15:08" and null.
 *
 * @param clock formats a time (epoch ms) for the page
 */
export function onset(
  { started_at, opened_at }: { started_at: string; opened_at: string },
  clock: (at: number) => string,
): { began: string; detected: string | null } {
  const [began, seen] = [Date.parse(started_at), Date.parse(opened_at)]
  if (seen - began < AT_ONCE_MS) return { began: `since ${clock(began)}`, detected: null }
  return { began: `started ${clock(began)}`, detected: `detected ${clock(seen)}` }
}

/** Both in one line; null when it was detected at once. */
export function onsetLine(
  alert: { started_at: string; opened_at: string },
  clock: (at: number) => string,
): string | null {
  const { began, detected } = onset(alert, clock)
  return detected === null ? null : `${began} · ${detected}`
}
