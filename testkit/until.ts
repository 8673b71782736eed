/** Interval of checks within this process, and of the first checks of another one, ms. */
const EVERY_MS = 25
/** Longest interval of checks of another process, ms, because each costs both processes time. */
const SELDOM_MS = 250
const SLOWER = 1.3
/** Only a failing test waits this long. With five other processes per core, what usually takes 10 s took over a minute. */
export const PATIENCE_MS = 180_000

/** Waits until `check` returns a value; fails after `ms`. */
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
