import { after } from 'node:test'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import { madeOnce } from '../../../testkit/made-once.ts'

let browser: Promise<Browser> | undefined

// Here and not where it is opened: there it would end with the one test that came first.
after(async () => (await browser)?.close())

/** The file's one browser, a real Chromium that comes from npm; it ends with the file. */
export function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

/** No page lives long enough to win back what optimizing its code costs: a tenth of the browser's processor time. */
const SHORT_LIVED = '--js-flags=--no-maglev --no-opt'

const launch = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: await unpacked(),
    // Tests often run as root in a container, where there is no sandbox. The package's own list is for cloud functions: with
    // its `--single-process` the browser ends with the first page.
    args: ['--no-sandbox', '--font-render-hinting=none', '--disable-gpu', SHORT_LIVED],
  })

/** The package unpacks its program where it finds none: no process may start one that another is still writing. */
async function unpacked(): Promise<string> {
  await madeOnce('chromium', async () => {
    await chromium.executablePath()
  })
  return chromium.executablePath()
}
