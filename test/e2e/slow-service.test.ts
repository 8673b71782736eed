import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AlertRecord } from '../../src/alerts/index.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { listen } from '../../testkit/listeners.ts'
import { clock } from './support/clock.ts'
import { startDemo } from './support/demo.ts'
import { assertAccessible, openPage, untilTrue } from './support/page.ts'

/** A way to a service on which everything can stand still: connections stay open, and nothing passes. */
async function wayTo(t: TestContext, url: string) {
  const { hostname, port } = new URL(url)
  const ends = new Set<Socket>()
  let isStill = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        ends.delete(from)
        to.destroy()
      })
      if (isStill) from.pause()
    }
  })
  const at = await listen(server)
  t.after(() => {
    for (const end of ends) end.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${at}`,
    stand(still: boolean) {
      isStill = still
      for (const end of ends) still ? end.pause() : end.resume()
    },
  }
}

// Its minutes pass, and the page of a site is loaded four times. On every change `overview` and `wall` are cut off from their service, and
// `site-troubles` has each report fail.
test('a service that hangs while a page is open', AT_NIGHT, async (t) => {
  const demo = await startDemo(t)
  const way = await wayTo(t, demo.url)
  const { page, browserErrors } = await openPage(t, way.url, 'about:blank')
  await page.clock.install({ time: clock.now() })
  await page.goto(`/sites/${demo.sites[0]?.id}`)
  await page.getByRole('heading', { level: 1, name: 'Feldkamp Outdoor' }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).first().click()
  const lines = page.getByRole('region', { name: 'Sites by client' })
  await lines.getByRole('link', { name: 'Feldkamp Outdoor' }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()

  way.stand(true)
  const banner = page.getByText(/No connection to Tagwarden. You see the state as of \d\d:\d\d\./)
  assert.equal(await banner.count(), 0)
  await t.test('is noticed after a minute without a word, and what was shown stays', async () => {
    await page.clock.fastForward(61_000)
    await page.clock.fastForward(7_000)
    await banner.waitFor()
    await untilTrue(page, 'document.title.startsWith("no connection")')
    await lines.getByRole('link', { name: 'Feldkamp Outdoor' }).waitFor()
    await assertAccessible(page)
  })

  await t.test('leaves no page waiting for ever: it says that Tagwarden cannot be reached', async () => {
    await lines.getByRole('link', { name: 'Maple & Birch Furniture' }).click()
    const error = page.getByText('Tagwarden cannot be reached')
    // Each try has a minute, and there are three with pauses in between.
    while ((await error.count()) === 0) await page.clock.fastForward(61_000)
    await error.first().waitFor()
  })

  await t.test('is back without a reload', async () => {
    way.stand(false)
    // Those that gave up meanwhile are closed; the page asks again.
    await page.clock.fastForward(61_000)
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Maple & Birch Furniture' }).waitFor()
  })
  await t.test('keeps the page in hand while an answer is late: another one opens meanwhile', async () => {
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await lines.getByRole('link', { name: 'Saffron Threads' }).waitFor()
    way.stand(true)
    await lines.getByRole('link', { name: 'Saffron Threads' }).click()
    await page.waitForURL('**/sites/*')
    await page.locator('[aria-busy="true"]').first().waitFor()
    assert.equal(await page.evaluate('document.getAnimations().length'), 0, 'this reader wants no motion')
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await lines.getByRole('link', { name: 'Saffron Threads' }).waitFor()
    await page.goBack()
    await page.locator('[aria-busy="true"]').first().waitFor()
    way.stand(false)
    await page.getByRole('heading', { level: 1, name: 'Saffron Threads' }).waitFor()
    await page
      .getByRole('img', { name: /^Events by name over time/ })
      .locator('canvas')
      .first()
      .waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  })
  await t.test(
    'what comes late moves nothing that is read, and no time is shown before its zone is known',
    async () => {
      const alerts = await demo.ask<AlertRecord[]>('GET', '/api/alerts?resolved=false')
      const alert = alerts.find(({ site_id }) => site_id === demo.sites[0]?.id)
      assert.ok(alert)
      const onset = page.locator('main').getByText(/^(started|since) .*\d\d:\d\d/)
      const moved = async (path: string, name: string, late: string) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        await page.route(late, async (route) => {
          await promise
          await route.continue()
        })
        await page.goto(path)
        await page.evaluate(`window.moved = 0
        new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.moved += value })
          .observe({ type: 'layout-shift', buffered: true })`)
        await page.getByRole('heading', { level: 1, name }).waitFor()
        assert.equal(await onset.count(), 0)
        resolve()
        await onset.first().waitFor()
        await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
        await page.unroute(late)
        return page.evaluate<number>('window.moved')
      }
      // Its figures may move meanwhile.
      const [title = ''] = alert.title.split(':')
      assert.ok((await moved(`/alerts/${alert.id}`, title, '**/api/dashboard/overview')) < 0.1)
      assert.ok((await moved(`/sites/${alert.site_id}`, 'Feldkamp Outdoor', '**/api/alerts?*')) < 0.1)
    },
  )
  // It goes on asking; the browser logs each request that was given up.
  await page.close()
  const errors = browserErrors.splice(0)
  assert.ok(
    errors.every((text) => /ERR_|Failed to load resource/.test(text)),
    errors.join('\n'),
  )
})
