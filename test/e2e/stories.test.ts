import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Demo, startDemo } from './support/demo.ts'
import { chiefly, openPage, type Variant } from './support/page.ts'

/** Meta fails on sites of both clients while the demo starts. */
const VENDOR = /Meta tags fail on 3 of \d sites/

/** Counts what a person presses on a page that is open, and says when and how far down it shows what they came for. */
async function watch(t: TestContext, page: Page) {
  const began = performance.now()
  await page.evaluate("globalThis.clicks = 0; addEventListener('click', () => globalThis.clicks++, true)")
  return {
    /** @param clicks in all by then, at most */
    async sees(what: string, place: Locator, clicks: number): Promise<void> {
      await place.first().waitFor()
      const counted = await page.evaluate<number>('globalThis.clicks')
      const seconds = ((performance.now() - began) / 1_000).toFixed(1)
      t.diagnostic(`${what}: ${counted} clicks, ${seconds} s`)
      assert.ok(counted <= clicks, `${what} took ${counted} clicks`)
    },
  }
}

/** Whether it can be read without scrolling. */
async function isOnScreen(page: Page, place: Locator): Promise<boolean> {
  const { y, height } = (await place.first().boundingBox()) ?? assert.fail('it is not there')
  return y >= 0 && y + height <= (page.viewportSize()?.height ?? 0)
}

/** In the browser: what the focus is on, as people read it, and whether it is seen there. */
const FOCUSED = `(({ activeElement: at }) => ({
  name: (at.ariaLabel ?? at.labels?.[0]?.innerText ?? at.innerText ?? '').trim(),
  isSeen: at.matches(':focus-visible') && getComputedStyle(at).outlineStyle !== 'none',
}))(document)`

/** Moves the focus until it is on what has this name. */
async function tabTo(page: Page, name: RegExp, most: number): Promise<void> {
  const passed: string[] = []
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<{ name: string; isSeen: boolean }>(FOCUSED)
    assert.ok(focused.isSeen, `the focus is on “${focused.name}”, and not seen`)
    if (name.test(focused.name)) return
    passed.push(focused.name)
  }
  assert.fail(`${name} is not among ${passed.join(' | ')}`)
}

async function incidentOf(demo: Demo): Promise<string> {
  const incidents = await demo.ask<{ id: string; title: string }[]>('GET', '/api/incidents?scope=vendor&resolved=false')
  return incidents.find(({ title }) => VENDOR.test(title))?.id ?? assert.fail('Meta has no incident')
}

test('what people come for is a click away', async (t) => {
  const demo = await startDemo(t)
  const id = await incidentOf(demo)

  const look = ({ scheme, device }: Required<Variant>) => `in ${scheme} on a ${device}`

  for (const variant of chiefly('phone')) {
    await t.test(
      `woken at three by a message: what is lost, why, whose it is and the tag, ${look(variant)}`,
      async (t) => {
        const { page } = await openPage(t, demo.url, `/incidents/${id}`, variant)
        const person = await watch(t, page)
        const loss = page.getByText(/^[\d,]+ of [\d,]+ tag executions on purchases/)
        await person.sees('what is lost', loss, 0)
        for (const word of ['Lost so far', 'Affected', 'Likely cause', 'Owner']) {
          const place = page.getByText(word, { exact: true })
          await person.sees(word, place, 0)
          assert.ok(await isOnScreen(page, place), `“${word}” has to be scrolled to`)
        }
        await page.getByRole('link', { name: 'Open Meta CAPI at this time' }).click()
        await person.sees('the tag at that time', page.getByRole('heading', { level: 2, name: /Meta CAPI/ }), 1)
        await page.goBack()
        await page.getByRole('heading', { level: 1, name: VENDOR }).waitFor()
        await page.getByRole('button', { name: 'Acknowledge', exact: true }).click()
        await page.getByRole('dialog').getByLabel('Your name').fill('Priya')
        await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
        await person.sees('acknowledged', page.getByText('acknowledged by Priya', { exact: true }), 3)
        await page.getByRole('button', { name: 'Un-acknowledge' }).click()
        await page.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor()
      },
    )
  }

  for (const variant of chiefly('desktop')) {
    await t.test(
      `at nine: the night, the worst of it, the site and the tag that fails, ${look(variant)}`,
      async (t) => {
        const { page } = await openPage(t, demo.url, '/today', variant)
        const person = await watch(t, page)
        const night = page.getByRole('region', { name: 'Overnight' })
        const worst = night.getByRole('link', { name: VENDOR })
        await person.sees('what broke overnight', worst, 0)
        assert.ok(await isOnScreen(page, worst), 'the worst has to be scrolled to')
        await person.sees('what is muted', page.getByRole('region', { name: 'Muted' }), 0)
        await person.sees('quotas', page.getByRole('region', { name: /[Qq]uota/ }), 0)
        await worst.first().click()
        await person.sees('what it costs', page.getByText(/^[\d,]+ of [\d,]+ tag executions on purchases/), 1)
        await page.getByRole('region', { name: 'Incidents of the sites' }).getByRole('link').first().click()
        await person.sees('the site and its cause', page.getByRole('region', { name: 'Evidence' }), 2)
      },
    )
  }

  await t.test(
    'woken at three without a mouse: from the message to the tag, and acknowledged, by keys alone',
    async (t) => {
      const { page } = await openPage(t, demo.url, `/incidents/${id}`)
      await page.getByText(/^[\d,]+ of [\d,]+ tag executions on purchases/).waitFor()
      await tabTo(page, /^Skip to the content$/, 1)
      await page.keyboard.press('Enter')
      await tabTo(page, /^Acknowledge$/, 2)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('Your name').waitFor()
      await tabTo(page, /^Your name/, 4)
      await page.keyboard.type('Priya')
      await page.keyboard.press('Enter')
      await page.getByText('acknowledged by Priya', { exact: true }).waitFor()
      await page.reload()
      await page.getByText('acknowledged by Priya', { exact: true }).waitFor()
      // The address has the content's anchor now: the focus begins there.
      await tabTo(page, /^Un-acknowledge$/, 3)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor()
      await tabTo(page, /^Open Meta CAPI at this time$/, 9)
      await page.keyboard.press('Enter')
      await page
        .getByRole('heading', { level: 2, name: /Meta CAPI/ })
        .first()
        .waitFor()
    },
  )
})
