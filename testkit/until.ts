/** Between looks at what is in this process, and between the first two questions to another one, ms. */
const EVERY_MS = 25
/** Between questions that have long been answered with "not yet": each costs the one who asks and the one who answers. */
const SELDOM_MS = 250
const SLOWER = 1.3
/** Only a test that fails waits so long. Beside five other processes a core, what takes ten seconds elsewhere took over a minute. */
export const PATIENCE_MS = 180_000

/** Waits until `check` gives something; fails after `ms`. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  ms = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + ms
  let pause = EVERY_MS
  for (;;) {
    const checked = check()
    const found = await checked
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`did not happen within ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
    if (checked instanceof Promise) pause = Math.min(SLOWER * pause, SELDOM_MS)
  }
}
