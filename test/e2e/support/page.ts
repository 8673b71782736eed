import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core'
import { amount } from '../../../testkit/length.ts'
import { until } from '../../../testkit/until.ts'
import { openBrowser } from './browser.ts'
import { SHIFT_MS } from './clock.ts'

export type Scheme = 'light' | 'dark'
export type Device = 'desktop' | 'phone'

/** The theme and device that a page is shown in. */
export interface Variant {
  scheme?: Scheme
  device?: Device
}

/** Every variant that a page has to work in; the first two have each theme and each device once. */
const ALL_VARIANTS: readonly Required<Variant>[] = [
  { scheme: 'light', device: 'desktop' },
  { scheme: 'dark', device: 'phone' },
  { scheme: 'dark', device: 'desktop' },
  { scheme: 'light', device: 'phone' },
]

/** The variants a test takes: two on every change, all of them at night and where pictures are written. */
export const VARIANTS = ALL_VARIANTS.slice(
  0,
  process.env.SCREENSHOTS === '1' ? ALL_VARIANTS.length : amount(2, ALL_VARIANTS.length),
)

const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }

/** A window onto the dashboard, and the errors that nothing in the test caused on purpose. */
export interface View {
  page: Page
  /** Errors of the browser's console, refusals of the page's policy, calls to other hosts. */
  browserErrors: string[]
}

/** A page in a browser profile, for one test after the other. */
interface Seat {
  context: BrowserContext
  page: Page
  /** Of the service whose pages it has shown. */
  url: string
  variant: Required<Variant>
}

/**
 * What tests have left. A page that was open before loads the dashboard for half of what a new profile costs, which starts a process and
 * compiles all of it again.
 */
const free: Seat[] = []

/**
 * Opens a page in a browser profile that is as new. A test that ends with errors it has not cleared fails.
 *
 * @param path from the top of the dashboard; a test that begins at `about:blank` sets up more than what is undone after it
 */
export async function openPage(t: TestContext, url: string, path: string, variant: Variant = {}): Promise<View> {
  const { scheme = 'light', device = 'desktop' } = variant
  const seat = await takeSeat(url, { scheme, device })
  const { page } = seat
  const browserErrors: string[] = []
  const onConsole = (message: ConsoleMessage): void => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // Hooks run in the order they were set: a service that the test started first may be gone before its page, which goes on asking.
    // One that dies during a test does not get away with it: what the test waits for does not come.
    const isAfterEnd =
      message.text().includes('net::ERR_CONNECTION_REFUSED') && URL.parse(message.location().url)?.origin === url
    if (!isAfterEnd) browserErrors.push(message.text())
  }
  const onError = (error: Error): number => browserErrors.push(error.message)
  const onRequest = (request: Request): void => {
    if (new URL(request.url()).origin !== url) browserErrors.push(`asked ${request.url()}`)
  }
  page.on('console', onConsole).on('pageerror', onError).on('request', onRequest)
  t.after(async () => {
    const isKept = path !== BLANK && (await leave(seat))
    page.off('console', onConsole).off('pageerror', onError).off('request', onRequest)
    if (isKept) free.push(seat)
    else await seat.context.close()
    assert.deepEqual(browserErrors, [])
  })
  await page.goto(path)
  return { page, browserErrors }
}

const BLANK = 'about:blank'

async function takeSeat(url: string, variant: Required<Variant>): Promise<Seat> {
  const [own, others] = [free.filter((seat) => seat.url === url), free.filter((seat) => seat.url !== url)]
  free.splice(0, free.length, ...own)
  // Their service has ended.
  for (const { context } of others) await context.close()
  const { scheme, device } = variant
  const at = free.findIndex((seat) => seat.variant.scheme === scheme && seat.variant.device === device)
  return free.splice(at, at === -1 ? 0 : 1)[0] ?? newSeat(url, variant)
}

const PATIENCE_MS = 90_000

async function newSeat(url: string, variant: Required<Variant>): Promise<Seat> {
  const { scheme, device } = variant
  const browser = await openBrowser()
  const context = await browser.newContext({
    baseURL: url,
    viewport: SIZES[device],
    colorScheme: scheme,
    hasTouch: device === 'phone',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  })
  // While ten tests share two cores, a page may take half a minute.
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addInitScript(shiftClock, SHIFT_MS)
  return { context, page: await context.newPage(), url, variant }
}

/** Undoes what a test may have done to its profile. @returns whether it is as new */
async function leave({ context, page, url, variant }: Seat): Promise<boolean> {
  if (page.isClosed()) return false
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  if (page.url().startsWith(url)) await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  // Of the same site: the browser keeps the process of the page, with all that it has compiled.
  await page.route(`${url}/left`, (route) => route.fulfill({ body: '' }))
  await context.setOffline(false)
  await page.goto('/left')
  await page.unrouteAll()
  await context.clearCookies()
  await context.clearPermissions()
  await page.emulateMedia({ media: null })
  await page.setViewportSize(SIZES[variant.device])
  return true
}

/** In the browser, before any script of a page: the time is that of the tests' clock. */
function shiftClock(ms: number): void {
  const { now } = Date
  Date.now = () => now() + ms
  globalThis.Date = new Proxy(Date, {
    construct: (real, args, made) => Reflect.construct(real, args.length === 0 ? [Date.now()] : args, made),
  })
}

/** Asserts that axe finds nothing: WCAG 2.2 A and AA, and its good practices. */
export async function assertAccessible(page: Page): Promise<void> {
  await holdToast(page)
  await newestFigures(page)
  // The mode for pages without frames of other hosts, which none may have: the other one opens a second page, and carries all
  // that is right with the first over to it.
  // Half a megabyte to send and to compile: a document that has it from an earlier look keeps it.
  const hasAxe = await page.evaluate<boolean>('typeof window.axe === "object"')
  const { violations } = await new AxeBuilder({ page, ...(hasAxe ? { axeSource: '0' } : {}) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze()
  assert.deepEqual(
    violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`)),
    [],
  )
}

/** What is shown until the answer for another range is there is pale, and goes back to its colours in a moment. */
async function newestFigures(page: Page): Promise<void> {
  await untilTrue(
    page,
    `document.querySelector(':not(main)[data-stale]') === null &&
      document.getAnimations().every((one) => one.transitionProperty !== 'opacity')`,
  )
}

/**
 * Waits until an expression is true in the page. The browser's own wait looks at text again and again with `eval`, which the page's policy
 * forbids: it would pass only where the first look does.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await until(expression, async () => (await page.evaluate<boolean>(expression)) || undefined, PATIENCE_MS)
}

/** A toast that fades out while it is looked at is too pale to read; one under the pointer stays. */
async function holdToast(page: Page): Promise<void> {
  const toast = page.locator('.mantine-Notification-root').last()
  if ((await toast.count()) > 0) await toast.hover()
}
