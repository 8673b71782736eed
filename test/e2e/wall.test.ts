import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { AT_NIGHT } from '../../testkit/length.ts'
import { until } from '../../testkit/until.ts'
import { startDemo } from './support/demo.ts'
import { assertAccessible, chiefly, follow, inOnePage, openPage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startEmpty } from './support/target.ts'

/** As many as a week has, each 15 seconds. */
const SLIDES = 40_320

/** Lets slides that stay for five seconds stay for next to no time, and counts them. */
function hurry(): void {
  const { setInterval: begin } = globalThis
  const page = globalThis as typeof globalThis & { slides: number }
  page.slides = 0
  const faster = (act: () => void, ms?: number) => {
    if (ms !== 5_000) return begin(act, ms)
    const next = () => {
      page.slides++
      act()
    }
    return begin(next, 1)
  }
  globalThis.setInterval = faster as typeof setInterval
}

/** What the page holds once all that is not needed is gone, bytes. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

/** In the browser: texts of the slide that do not fit their place. */
const CUT = `[...document.querySelectorAll('section li span, section h2 span')]
  .filter((text) => text.scrollWidth > text.clientWidth + 1 || text.scrollHeight > text.clientHeight + 1)
  .map((text) => text.textContent)`

/** From five metres, on a screen of 55 inches, letters are read that take this share of its width: 51 of 1,920 px. */
const READABLE = 51 / 1_920
/** In the browser: the smallest size of a text that is seen, px. */
const SMALLEST = `Math.min(...[...document.querySelectorAll('main *, header *, section *, footer *')]
  .filter((place) => [...place.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  .filter((place) => place.getBoundingClientRect().width > 1 && !place.closest('.sr-only') && !place.matches('a'))
  .map((place) => Number.parseFloat(getComputedStyle(place).fontSize)))`

const slideNumber = (page: Page, number: number) => page.getByText(new RegExp(`^${number} of \\d+$`))

test('the wall of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)

  for (const variant of chiefly('desktop')) {
    await t.test(
      `shows what is broken, in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
      async (t) => {
        const { page } = await open(t, '/wall?seconds=600', variant)
        await page.getByRole('heading', { level: 1, name: /broken|need/ }).waitFor()
        await page.getByRole('listitem').filter({ hasText: 'Meta CAPI' }).first().waitFor()
        await page.getByText(/^As of \d\d:\d\d$/).waitFor()
        assert.equal(await page.evaluate('document.documentElement.scrollHeight > innerHeight'), false, 'it scrolls')
        assert.deepEqual(await page.evaluate(CUT), [], 'text is cut')
        const { width = 0 } = page.viewportSize() ?? {}
        const smallest = await page.evaluate<number>(SMALLEST)
        // A phone is held in the hand.
        assert.ok(variant.device === 'phone' || smallest >= READABLE * width, `${smallest} px on ${width} px`)
        await assertAccessible(page)
        await screenshot(page, 'wall', variant)
      },
    )
  }

  await t.test('is opened from the overview, shows one client after the other, and Escape leads back', async (t) => {
    const { page } = await open(t, '/overview')
    await page.getByRole('link', { name: 'Show on a wall' }).click()
    await page.waitForURL('**/wall')
    await follow(page, '/wall?seconds=5')
    await slideNumber(page, 1).waitFor()
    await slideNumber(page, 2).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL('**/overview')
  })

  await t.test('cut off from the service, it says that what it shows is old', async (t) => {
    const { page, browserErrors } = await open(t, '/wall')
    await page.getByText(/^As of/).waitFor()
    await page.context().setOffline(true)
    await page.getByText(/^No connection to Tagwarden: this is how it was at \d\d:\d\d$/).waitFor()
    await staysAccessible(page)
    await page.context().setOffline(false)
    await page.getByText(/^As of/).waitFor()
    // The browser logs each connection that it could not make.
    await until(
      'errors of the network only',
      () => browserErrors.every((text) => /ERR_INTERNET_DISCONNECTED/.test(text)) || undefined,
    )
    browserErrors.length = 0
  })

  // Hundreds of slides are seconds of a processor, and a leak is no page that is wrong.
  await t.test('holds no more after thousands of slides than after the first', AT_NIGHT, async (t) => {
    const { page } = await openPage(t, demo.url, 'about:blank')
    await page.addInitScript(hurry)
    await page.goto(`${demo.url}/wall?seconds=5`)
    const shown = (count: number) =>
      until(
        `slide ${count}`,
        async () => ((await page.evaluate<number>('slides')) >= count ? true : undefined),
        900_000,
      )
    await shown(100)
    const before = await heapOf(page)
    let after = Number.POSITIVE_INFINITY
    // A leak only grows; what an answer has just brought is gone with the next.
    for (let more = 0; more < 3 && after >= before * 1.1; more++) {
      await shown(100 + SLIDES + more * 50)
      after = Math.min(after, await heapOf(page))
    }
    t.diagnostic(`${SLIDES} slides: ${(before / 1e6).toFixed(2)} MB before, ${(after / 1e6).toFixed(2)} MB after`)
    assert.ok(after < before * 1.1, `${before} bytes became ${after}`)
  })
})

test('a wall without any site says so, and shows the first as soon as it is there', async (t) => {
  const service = await startEmpty(t)
  const { page } = await openPage(t, service.url, '/wall')
  await page.getByRole('heading', { name: 'No site is watched' }).waitFor()
  await staysAccessible(page)
})
