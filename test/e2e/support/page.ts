import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core'
import { amount } from '../../../testkit/length.ts'
import { PATIENCE_MS, until } from '../../../testkit/until.ts'
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

/** The variants of what shows most of the dashboard's parts: two on every change, all of them at night and where pictures are written. */
export const VARIANTS = ALL_VARIANTS.slice(
  0,
  process.env.SCREENSHOTS === '1' ? ALL_VARIANTS.length : amount(2, ALL_VARIANTS.length),
)

/**
 * Then each variant has a profile and a document of its own. On every change one is shown in each of them in turn: another starts a process and
 * compiles the dashboard again, and no page asks whether there is touch.
 */
const HAS_ALL = VARIANTS.length === ALL_VARIANTS.length

/**
 * The variants of every other page: on every change the one on this device, all of them at night and where pictures are written. Its
 * parts are looked at in both themes on the overview, a site's page and the kit, and `long-names` looks whether it fits a phone.
 */
export const chiefly = (device: Device): readonly Required<Variant>[] =>
  HAS_ALL ? VARIANTS : VARIANTS.filter((variant) => variant.device === device)

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
  /** That it was opened for. */
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
    const { url: from } = message.location()
    // Hooks run in the order they were set: a service that the test started first may be gone before its page, which goes on asking.
    // One that dies during a test does not get away with it: what the test waits for does not come.
    const isAfterEnd =
      /net::ERR_(CONNECTION_(REFUSED|RESET)|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/.test(message.text()) &&
      URL.parse(from)?.origin === url
    // What could not be loaded, the text does not say.
    if (!isAfterEnd)
      browserErrors.push(/^Failed to load/.test(message.text()) ? `${message.text()} ${from}` : message.text())
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

/**
 * For tests that come one after the other and look at one service: there is one document for all of them (at night one of each variant), in which
 * the next test's page is opened as a link opens it (`follow`), with nothing kept by the browser for the dashboard. The first one loads it by its
 * address. After a test that failed, that has left a toast or is no longer on the dashboard, it is loaded again.
 *
 * @param t of the test around them
 */
export function inOnePage(t: TestContext, url: string) {
  const views = new Map<string, View>()
  return async (
    ofOne: TestContext,
    path: string,
    { scheme = 'light', device = 'desktop' }: Variant = {},
  ): Promise<View> => {
    const name = HAS_ALL ? `${scheme} ${device}` : ''
    const known = views.get(name)
    const view = known ?? (await openPage(t, url, path, { scheme, device }))
    views.set(name, view)
    const { page, browserErrors } = view
    ofOne.after(async () => {
      const isKept = 'passed' in ofOne && ofOne.passed === true && browserErrors.length === 0 && !page.isClosed()
      if (isKept) {
        await restore(page, { scheme, device })
        // What it showed would go on asking. One that is just leading elsewhere is loaded again.
        await page.evaluate(FORGET).catch(() => undefined)
      } else views.delete(name)
      assert.deepEqual(browserErrors.splice(0), [])
    })
    if (known === undefined) return view
    await dress(page, { scheme, device })
    if (await page.evaluate<boolean>(IS_READY)) await follow(page, path)
    else await page.goto(url + path)
    return view
  }
}

/** In the browser: forgets what it keeps of an earlier test. The dashboard is there, and says nothing of it. */
const IS_READY = `localStorage.clear(),
  typeof __TSR_ROUTER__ === 'object' && document.querySelector('.mantine-Notification-root') === null`

const BLANK = 'about:blank'

async function takeSeat(url: string, variant: Required<Variant>): Promise<Seat> {
  const [own, others] = [free.filter((seat) => seat.url === url), free.filter((seat) => seat.url !== url)]
  free.splice(0, free.length, ...own)
  // Their service has ended.
  for (const { context } of others) await context.close()
  const { scheme, device } = variant
  const isFor = ({ variant: its }: Seat) => !HAS_ALL || (its.scheme === scheme && its.device === device)
  const at = free.findIndex(isFor)
  const [seat] = free.splice(at, at === -1 ? 0 : 1)
  if (seat === undefined) return newSeat(url, variant)
  await dress(seat.page, variant)
  return seat
}

async function newSeat(url: string, variant: Required<Variant>): Promise<Seat> {
  const { scheme, device } = variant
  const browser = await openBrowser()
  const context = await browser.newContext({
    baseURL: url,
    viewport: SIZES[device],
    colorScheme: scheme,
    hasTouch: HAS_ALL && device === 'phone',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  })
  // While ten tests share two cores that others want too, a page may take a minute and a half.
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addInitScript(shiftClock, SHIFT_MS)
  return { context, page: await context.newPage(), url, variant }
}

/** Undoes what a test may have done to its profile. @returns whether it is as new */
async function leave({ context, page, url, variant }: Seat): Promise<boolean> {
  if (page.isClosed()) return false
  if (page.url().startsWith(url)) await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await restore(page, variant)
  // Of the same site: the browser keeps the process of the page, with all that it has compiled.
  await page.route(`${url}/left`, (route) => route.fulfill({ body: '' }))
  await page.goto('/left')
  await page.unrouteAll()
  await context.clearCookies()
  return true
}

/** Undoes what a test may have done to its page, but for the document. */
async function restore(page: Page, variant: Required<Variant>): Promise<void> {
  const context = page.context()
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.setOffline(false)
  await context.clearPermissions()
  await dress(page, variant)
  // What comes to lie under it would open its tooltip.
  await page.mouse.move(0, 0)
}

async function dress(page: Page, { scheme, device }: Required<Variant>): Promise<void> {
  await page.emulateMedia({ media: null, colorScheme: scheme })
  await page.evaluate('document.exitFullscreen().catch(() => undefined)')
  // In full screen a window cannot be resized, and it leaves full screen a moment after its document.
  await until('the window has its size', () =>
    page.setViewportSize(SIZES[device]).then(
      () => true,
      (error: unknown) => {
        if (!/fullscreen/.test(String(error))) throw error
        return undefined
      },
    ),
  )
}

/** In the browser, before any script of a page: the time is that of the tests' clock. */
function shiftClock(ms: number): void {
  const { now } = Date
  Date.now = () => now() + ms
  globalThis.Date = new Proxy(Date, {
    construct: (real, args, made) => Reflect.construct(real, args.length === 0 ? [Date.now()] : args, made),
  })
}

/** Half of what its builder would send, which it does twice for each look: what is sent has to be read and compiled. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** An open menu or list lies outside the landmarks, as a dialog does, and is reached through what opens it. */
const REGIONS = 'dialog, [role=dialog], [role=alertdialog], [role=menu], [role=listbox], svg'
const AXE = `${SOURCE};axe.configure({ checks: [{ id: 'region', options: { regionMatcher: '${REGIONS}' } }] })`
const NO_MORE_SOURCE = '0'

/** Asserts that axe finds nothing: WCAG 2.2 A and AA, and its good practices. */
export async function assertAccessible(page: Page): Promise<void> {
  await holdToast(page)
  await untilTrue(page, NOTHING_COPIED)
  await newestFigures(page)
  // A document that has it from an earlier look keeps it.
  if (!(await page.evaluate<boolean>('typeof window.axe === "object"'))) await page.evaluate(AXE)
  // The mode for pages without frames of other hosts, which none may have: the other one opens a second page, and carries all
  // that is right with the first over to it.
  const analyze = async () => {
    const { violations } = await new AxeBuilder({ page, axeSource: NO_MORE_SOURCE })
      .setLegacyMode()
      .options({ resultTypes: ['violations'] })
      .analyze()
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`))
  }
  const found = await analyze()
  if (found.length === 0) return
  // An answer for another range may have been asked for meanwhile.
  await newestFigures(page)
  assert.deepEqual(await analyze(), [])
}

/** In the browser: no tooltip says that something was copied, which it does for a moment and in no part of the page. */
const NOTHING_COPIED =
  '![...document.querySelectorAll("[role=tooltip]")].some(({ textContent }) => textContent === "Copied")'

/**
 * The same at night alone: for what a page shows after it was looked at once, as a menu, a dialog or a refusal. The parts that these are made of are
 * looked at in the kit and where they are a page's own.
 */
export const staysAccessible = (page: Page): Promise<void> => (HAS_ALL ? assertAccessible(page) : Promise.resolve())

/** What is shown until the answer for another range is there is pale, and goes back to its colours in a moment. */
async function newestFigures(page: Page): Promise<void> {
  await untilTrue(
    page,
    `document.querySelector(':not(main)[data-stale]') === null &&
      document.getAnimations().every((one) => one.transitionProperty !== 'opacity')`,
  )
}

/**
 * Leads the dashboard that is open to another of its pages, as a link there would, which then asks for all that it shows. A new document
 * compiles the dashboard and starts it again, which is most of what a page costs: take `page.goto` where that is what a test is about.
 */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(FORGET)
  await page.evaluate(`__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} })`)
  await untilTrue(page, SETTLED)
}

/**
 * Does what makes the page ask whether something may be lost, and answers within the page: on loaded machines, and never when it was
 * looked for, the browser driver has closed such a question before the test could.
 */
export async function answering(page: Page, answer: boolean, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(`((confirm) => {
    window.answered = undefined
    window.confirm = (question) => {
      window.confirm = confirm
      window.answered = question
      return ${answer}
    }
  })(window.confirm)`)
  await act()
  await untilTrue(page, `typeof window.answered === 'string'`)
}

/** Waits until the dashboard has every answer that its page asks for. */
export const answered = (page: Page): Promise<void> =>
  untilTrue(page, '__TSR_ROUTER__.options.context.queryClient.isFetching() === 0')

/** In the browser: shows a page that shows nothing, so that no part of the one before stays, nor an answer that it got. */
const FORGET = `(async (router) => {
  if (router === undefined) return
  const { queryClient } = router.options.context
  await router.navigate({ href: '/left', replace: true, ignoreBlocker: true })
  queryClient.removeQueries({ type: 'inactive' })
  await queryClient.invalidateQueries({ refetchType: 'none' })
})(globalThis.__TSR_ROUTER__)`

/** In the browser: the page of the address is drawn. */
const SETTLED =
  "(({ status, location, resolvedLocation }) => status === 'idle' && resolvedLocation?.href === location.href)(__TSR_ROUTER__.state)"

/**
 * Waits until an expression is true in the page. The browser's own wait looks at text again and again with `eval`, which the page's policy
 * forbids: it would pass only where the first look does.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await until(expression, async () => (await page.evaluate<boolean>(expression)) || undefined)
}

/** A toast that fades out while it is looked at is too pale to read; one under the pointer stays. It may go before the pointer is there. */
async function holdToast(page: Page): Promise<void> {
  const toast = page.locator('.mantine-Notification-root').last()
  const hover = () =>
    toast.hover({ timeout: 2_000 }).then(
      () => true,
      () => undefined,
    )
  await until('a toast is held, or gone', async () => (await toast.count()) === 0 || hover())
}
