/** Waits until `check` gives something; fails after `ms`. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  ms = 60_000,
): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`did not happen within ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
