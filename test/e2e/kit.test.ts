import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { dashboardRoutes } from '../../src/dashboard/index.ts'
import { createHttpApp } from '../../src/http/index.ts'
import { memoryCredentials } from '../../testkit/credentials.ts'
import { openEmptyStore, sqlite, tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'
import { until } from '../../testkit/until.ts'
import { clock } from './support/clock.ts'
import { assertAccessible, inOnePage, VARIANTS } from './support/page.ts'

/** Serves a build that has the page of all shared components; the build that we ship has none. */
async function serveKit(t: TestContext): Promise<string> {
  const folder = await tempDir(t)
  const vite = join(REPOSITORY, 'node_modules/vite/bin/vite.js')
  const options = ['build', join(REPOSITORY, 'web'), '--mode', 'kit', '--outDir', folder, '--logLevel', 'error']
  await promisify(execFile)(process.execPath, [vite, ...options])
  const store = await openEmptyStore(sqlite, t)
  const credentials = memoryCredentials(clock)
  const app = await createHttpApp({
    log: false,
    clock,
    credentials,
    ownersOf: async () => new Map(),
    access: { adminToken: null, viewerToken: null, listensOnLoopback: true },
    publicUrl: null,
    trustProxy: [],
    isPassing: () => false,
    version: '1.2.3',
    dashboardFolder: folder,
  })
  t.after(() => app.close())
  const channelSettings = { globalWebhook: null, isEmailOn: false }
  dashboardRoutes(app, { store, clock, channelSettings, credentials, onError: (error) => assert.fail(error) })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

test('the shared components', async (t) => {
  const open = inOnePage(t, await serveKit(t))

  for (const variant of VARIANTS) {
    await t.test(`are drawn in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/kit', variant)
      await page.locator('canvas').nth(1).waitFor()
      await assertAccessible(page)
    })
  }

  await t.test('no part moves for a reader who wants no motion', async (t) => {
    const { page } = await open(t, '/kit')
    const moving = await page.evaluate<string[]>(`[...document.querySelectorAll('*')].flatMap((part) =>
      [undefined, '::before', '::after'].flatMap((piece) => {
        const { transitionDuration, animationName } = getComputedStyle(part, piece)
        const isStill = /^[0s, ]+$/.test(transitionDuration) && animationName === 'none'
        return isStill ? [] : [part.outerHTML.slice(0, 120)]
      }))`)
    assert.deepEqual(moving, [])
  })

  await t.test('no style uses a variable of Mantine that the build leaves out', async (t) => {
    const { page } = await open(t, '/kit')
    const [used, missing] = await page.evaluate<[number, string[]]>(`(() => {
      const text = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).map(({ cssText }) => cssText).join('')
      const names = new Set(text.replace(/:root[^{]*{[^}]*}/g, '').match(/(?<=var\\()--mantine-[\\w-]+(?=\\))/g))
      const all = getComputedStyle(document.documentElement)
      return [names.size, [...names].filter((name) => all.getPropertyValue(name) === '')]
    })()`)
    assert.ok(used > 30, `only ${used} are used`)
    // Mantine declares it nowhere.
    assert.deepEqual(missing, ['--mantine-text-wrap'])
  })

  await t.test('a chart is printed in the colours of the light theme', async (t) => {
    const { page } = await open(t, '/kit')
    await page.locator('canvas').nth(1).waitFor()
    const drawn = () => page.evaluate<string>("document.querySelector('canvas')?.toDataURL() ?? ''")
    const becomes = (what: string, is: (picture: string) => boolean) =>
      until(what, async () => {
        const picture = await drawn()
        return (is(picture) && picture === (await drawn()) && picture) || undefined
      })
    const light = await becomes('it is drawn', () => true)
    await page.emulateMedia({ colorScheme: 'dark' })
    await becomes('it is dark', (picture) => picture !== light)
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    await becomes('it is light on paper', (picture) => picture === light)
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    await becomes('it is dark again', (picture) => picture !== light)
  })

  await t.test('a chart shows the values under the pointer, in the given zone, and what is clicked', async (t) => {
    const { page } = await open(t, '/kit')
    const chart = page.getByRole('img', { name: 'Example: events by name' })
    await chart.locator('canvas').waitFor()
    const { width = 0 } = (await chart.boundingBox()) ?? {}
    await chart.hover({ position: { x: width * 0.75, y: 120 } })
    await chart.getByText(/GMT\+5:30$/).waitFor()
    assert.match((await chart.textContent()) ?? '', /22:30–23:30, 5 Jan 2026, GMT\+5:30.*page_view/)
    await chart.click({ position: { x: width * 0.6, y: 140 } })
    assert.match((await page.getByTestId('clicked').textContent()) ?? '', /^(?!nothing)/)
  })

  await t.test('a table sorts by its numbers, with the empty ones last, and opens rows by keyboard', async (t) => {
    const { page } = await open(t, '/kit')
    const table = page.getByRole('region', { name: 'Short list' }).getByRole('table')
    const names = () => table.locator('tbody tr td:first-child').allTextContents()
    await table.getByRole('button', { name: 'Executions' }).click()
    assert.deepEqual(await names(), ['Tag 2', 'Tag 3', 'Tag 5', 'Tag 1', 'Tag 4'])
    await table.getByRole('button', { name: 'Executions' }).click()
    assert.deepEqual(await names(), ['Tag 1', 'Tag 5', 'Tag 3', 'Tag 2', 'Tag 4'])
    assert.equal(await table.getByRole('columnheader', { name: 'Executions' }).getAttribute('aria-sort'), 'ascending')
    await table.getByRole('row', { name: /Tag 1/ }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    assert.equal(await page.getByTestId('opened').textContent(), 'Tag 5')
  })

  await t.test('a long table draws what is seen, and the rest when one gets there', async (t) => {
    const { page } = await open(t, '/kit')
    const region = page.getByRole('region', { name: 'Long list' })
    await region.getByText('Tag 1', { exact: true }).waitFor()
    assert.ok((await region.locator('tbody tr').count()) < 100)
    assert.equal(await region.getByRole('table').getAttribute('aria-rowcount'), '1001')
    await region.focus()
    // The list is as long as it was estimated, until its lines were measured: once may not reach the end.
    await until('the last line', async () => {
      await page.keyboard.press('End')
      return (await region.getByText('Tag 1000', { exact: true }).isVisible()) || undefined
    })
  })

  await t.test('the time range is in the address, typed in the zone that is shown', async (t) => {
    const { page } = await open(t, '/kit')
    await page.getByRole('button', { name: /^Time range/ }).click()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.waitForURL('**/kit?range=7d')
    assert.equal(await page.getByTestId('range').textContent(), '{"hours":168}')
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByLabel('From').fill('2026-01-05T05:30')
    await page.getByLabel('To', { exact: true }).fill('2026-01-05T04:00')
    assert.ok(await page.getByRole('button', { name: 'Show', exact: true }).isDisabled())
    await page.getByLabel('To', { exact: true }).fill('2026-01-06T05:30')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    const range = { from: '2026-01-05T00:00:00.000Z', to: '2026-01-06T00:00:00.000Z' }
    await page.getByText(JSON.stringify(range)).waitFor()
    await page.goBack()
    await page.getByText('{"hours":168}').waitFor()
  })

  await t.test('what destroys asks for the name, and stays open with the reason when it fails', async (t) => {
    const { page } = await open(t, '/kit')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete the site Example' })
    await dialog.waitFor()
    await assertAccessible(page)
    const confirm = dialog.getByRole('button', { name: 'Delete the site' })
    assert.ok(await confirm.isDisabled())
    await page.keyboard.type('Example')
    await confirm.click()
    await dialog.getByText('It is in use').waitFor()
  })

  await t.test('a copy is in the clipboard, also where the browser offers none to the page', async (t) => {
    const { page } = await open(t, '/kit')
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await page.evaluate("document.addEventListener('copy', () => { window.copied = String(document.getSelection()) })")
    await page.getByRole('button', { name: 'Copy example' }).click()
    await page.getByText('Copied').first().waitFor()
    assert.equal(await page.evaluate('window.copied'), 'copied text')
  })
})
