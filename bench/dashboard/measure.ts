import type { Browser, Page } from 'playwright-core'

const WINDOW = { width: 1440, height: 900 }
/** A line of the overview, as people see it. */
const FIRST_LINE = 'section[aria-label="Sites by client"] li a'

/**
 * Time until the overview shows its sites in a browser that has been here never before, ms from the start of the navigation.
 */
export async function firstLoad(browser: Browser, url: string): Promise<number> {
  const page = await newPage(browser, url)
  try {
    await page.goto('/', { waitUntil: 'commit' })
    const shown = await page.waitForFunction<number | false>(
      `document.querySelector(${JSON.stringify(FIRST_LINE)}) !== null && performance.now()`,
    )
    return Number(await shown.jsonValue())
  } finally {
    await page.context().close()
  }
}

/**
 * Longest time from each interaction to the next paint, ms, as the browser's Event Timing reports it (in steps of 8 ms; below
 * 16 ms it reports nothing).
 */
export async function interactions(browser: Browser, url: string): Promise<Record<string, number>> {
  const page = await newPage(browser, url)
  try {
    await page.goto('/')
    await page.locator(FIRST_LINE).first().waitFor()
    await page.evaluate(`
      globalThis.longest = 0
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration)
      }).observe({ type: 'event', durationThreshold: 16 })
    `)
    const found: Record<string, number> = {}
    for (const [name, act] of Object.entries(ACTS)) {
      await page.evaluate('globalThis.longest = 0')
      await act(page)
      // An entry is reported after the paint that it is about.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))')
      found[name] = await page.evaluate<number>('globalThis.longest')
    }
    return found
  } finally {
    await page.context().close()
  }
}

const ACTS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'a letter in the search': (page) => page.getByLabel('Find sites and clients').press('7'),
  'a second letter': (page) => page.getByLabel('Find sites and clients').press('3'),
  'the search is cleared': (page) => page.getByRole('button', { name: 'Clear' }).click(),
  'only what is silent': (page) => page.getByText('Silent', { exact: true }).click(),
  'all sites again': (page) => page.getByText('All', { exact: true }).click(),
  'quick search opens': (page) => page.keyboard.press('Control+k'),
  'a letter in it': (page) => page.keyboard.press('5'),
  'and it closes': (page) => page.keyboard.press('Escape'),
}

async function newPage(browser: Browser, url: string): Promise<Page> {
  // The page's policy forbids the text that waits in it; it costs no time.
  const context = await browser.newContext({ baseURL: url, viewport: WINDOW, bypassCSP: true })
  return await context.newPage()
}
