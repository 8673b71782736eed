const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * How long to wait before a connection that was refused is tried again: twice as long each time up to a minute, and spread, so that
 * the pages of many people do not all come at once.
 *
 * @param refusals one after another, before this try
 * @param random 0–1
 * @returns ms
 */
export function reopenAfter(refusals: number, random: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(refusals, 10))
  return (most / 2) * (1 + random)
}
