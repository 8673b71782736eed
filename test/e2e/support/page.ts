import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { amount } from '../../../testkit/length.ts'
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

/**
 * Opens a page in a browser profile of its own. A test that ends with errors it has not cleared fails.
 *
 * @param path from the top of the dashboard
 */
export async function openPage(t: TestContext, url: string, path: string, variant: Variant = {}): Promise<View> {
  const { scheme = 'light', device = 'desktop' } = variant
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
  await context.addInitScript(shiftClock, SHIFT_MS)
  const page = await context.newPage()
  const browserErrors: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // Hooks run in the order they were set: a service that the test started first may be gone before its page, which goes on asking.
    // One that dies during a test does not get away with it: what the test waits for does not come.
    const isAfterEnd =
      message.text().includes('net::ERR_CONNECTION_REFUSED') && URL.parse(message.location().url)?.origin === url
    if (!isAfterEnd) browserErrors.push(message.text())
  })
  page.on('pageerror', (error) => browserErrors.push(error.message))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) browserErrors.push(`asked ${request.url()}`)
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(browserErrors, [])
  })
  await page.goto(path)
  return { page, browserErrors }
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

/** A toast that fades out while it is looked at is too pale to read; one under the pointer stays. */
async function holdToast(page: Page): Promise<void> {
  const toast = page.locator('.mantine-Notification-root').last()
  if ((await toast.count()) > 0) await toast.hover()
}
