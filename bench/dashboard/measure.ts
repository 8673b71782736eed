import type { Browser, Page } from 'playwright-core'

const WINDOW = { width: 1440, height: 900 }
/** A line of the overview, as people see it. */
const FIRST_LINE = 'section[aria-label="Sites by client"] li a'

export interface FirstLoad {
  /** From the start of the navigation until the page shows what it is for, ms. */
  ms: number
  /** Compressed bytes of what the interface answered by then. */
  dataBytes: number
}

/** Loads a page in a browser that has been here never before. @param shown selector of what the page is for */
export async function firstLoad(browser: Browser, url: string, path = '/', shown = FIRST_LINE): Promise<FirstLoad> {
  const page = await newPage(browser, url)
  try {
    await page.goto(path, { waitUntil: 'commit' })
    const time = await page.waitForFunction<number | false>(
      `document.querySelector(${JSON.stringify(shown)}) !== null && performance.now()`,
    )
    const dataBytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname.startsWith('/api/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
    return { ms: Number(await time.jsonValue()), dataBytes }
  } finally {
    await page.context().close()
  }
}

/** What someone does on a page, by the name under which it is measured. */
export type Acts = Readonly<Record<string, (page: Page) => Promise<void>>>

/**
 * Longest time from each interaction to the next paint, ms, as the browser's Event Timing reports it (in steps of 8 ms; below
 * 16 ms it reports nothing).
 *
 * @param ready selector of what has to be there before the first
 */
export async function interactions(
  browser: Browser,
  url: string,
  { path, ready, acts }: { path: string; ready: string; acts: Acts },
): Promise<Record<string, number>> {
  const page = await newPage(browser, url)
  try {
    await page.goto(path)
    await page.locator(ready).first().waitFor()
    await page.evaluate(`
      globalThis.longest = 0
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration)
      }).observe({ type: 'event', durationThreshold: 16 })
    `)
    const found: Record<string, number> = {}
    for (const [name, act] of Object.entries(acts)) {
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

/** The overview with many sites. */
export const OVERVIEW = {
  path: '/overview',
  ready: FIRST_LINE,
  acts: {
    'a letter in the search': (page) => page.getByLabel('Find sites and clients').press('7'),
    'a second letter': (page) => page.getByLabel('Find sites and clients').press('3'),
    'the search is cleared': (page) => page.getByRole('button', { name: 'Clear' }).click(),
    'only what is silent': (page) => page.getByText('Silent', { exact: true }).click(),
    'all sites again': (page) => page.getByText('All', { exact: true }).click(),
    'quick search opens': (page) => page.keyboard.press('Control+k'),
    'a letter in it': (page) => page.keyboard.press('5'),
    'and it closes': (page) => page.keyboard.press('Escape'),
  } satisfies Acts,
}

/** The page of a site, from its charts to the table of tags by event. */
export const sitePage = (siteId: string) => ({
  path: `/sites/${siteId}`,
  ready: 'canvas',
  acts: {
    'the pointer crosses the events': (page) => page.getByRole('img', { name: /^Events by name over time/ }).hover(),
    'the pointer crosses the tags': (page) => page.getByRole('img', { name: /^Tag health over time/ }).hover(),
    'the table of tags by event': (page) => page.getByRole('tab', { name: 'Tags and events' }).click(),
    'a tag is opened': (page) => page.getByRole('table').getByRole('button', { name: 'Vendor' }).first().click(),
    'and left': (page) => page.getByRole('button', { name: 'Whole site' }).click(),
    'the last payloads': (page) => page.getByRole('tab', { name: 'Last payloads' }).click(),
    'the charts again': (page) => page.getByRole('tab').first().click(),
  } satisfies Acts,
})

async function newPage(browser: Browser, url: string): Promise<Page> {
  // The page's policy forbids the text that waits in it; it costs no time.
  const context = await browser.newContext({ baseURL: url, viewport: WINDOW, bypassCSP: true })
  return await context.newPage()
}
