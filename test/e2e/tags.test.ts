import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, untilTrue } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

test('the catalogue of tags of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  for (const variant of chiefly('desktop')) {
    await t.test(
      `says by vendor what fails where, in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
      async (t) => {
        const { page } = await open(t, '/tags', variant)
        const meta = page.getByRole('row').filter({ hasText: 'Meta' })
        await meta.getByText(/^[1-4] of [1-4] sites?$/).waitFor()
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, 'the page scrolls sideways')
        await screenshot(page, 'tags', variant)
        await meta.click()
        await page.waitForURL('**/tags?vendor=meta')
        await page.getByText(/^Meta fails on (all|\d) of its \d sites? now\./).waitFor()
        await page
          .getByRole('img', { name: /^failed most from .+: \d+ % of [\d,]+ executions$/ })
          .first()
          .waitFor()
        const table = page.getByRole('region', { name: 'Sites with Meta' })
        const hidden = await table.evaluate((region) => region.scrollWidth - region.clientWidth)
        assert.equal(hidden, 0, 'a part of the hours is out of sight')
        assert.ok((await table.getByText(/^GTM-\w+ \d+$/).count()) >= 3, 'no versions')
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, 'the page scrolls sideways')
        await screenshot(page, 'tags-vendor', variant)
      },
    )
  }

  await t.test('a site of a vendor leads to its tag there, and "back" to where one was', async (t) => {
    const { page } = await open(t, '/tags?vendor=meta')
    const row = page.getByRole('row').filter({ hasText: 'Feldkamp Outdoor' })
    await row.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sites\/[^/]+\?tag=/)
    await page.goBack()
    await page.waitForURL('**/tags?vendor=meta')
    await page.getByRole('link', { name: 'Tags', exact: true }).first().click()
    await page.waitForURL((url) => url.pathname === '/tags' && url.search === '')
    await page.getByRole('row').filter({ hasText: 'Google Analytics' }).waitFor()
  })

  await t.test("a refusal of a tag's vendor is shown, also once its question is closed", async (t) => {
    const { page, browserErrors } = await open(t, '/tags?vendor=meta')
    await page.getByRole('row').filter({ hasText: 'Feldkamp Outdoor' }).click()
    await page.getByRole('button', { name: 'Set vendor' }).click()
    await page.getByRole('combobox', { name: 'Vendor' }).fill('Ours')
    const closed = Promise.withResolvers<void>()
    await page.route('**/tag-vendors/**', async (route) => {
      await closed.promise
      await route.abort()
    })
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.getByRole('heading').first().click()
    await page.getByRole('button', { name: 'Set', exact: true }).waitFor({ state: 'detached' })
    closed.resolve()
    await page.getByText('Vendor not set').waitFor()
    browserErrors.length = 0
    await page.getByRole('button', { name: 'Set vendor' }).click()
    await page.getByRole('combobox', { name: 'Vendor' }).fill('')
  })

  await t.test('a client of the address that there is not is not shown as all clients', async (t) => {
    const { page, browserErrors } = await open(t, '/tags?client=7d444840-9dc0-41d1-b245-5ffdce74fad2')
    await untilTrue(page, `document.querySelector('main input')?.value === 'Unknown, or paused'`)
    await page.getByRole('button', { name: 'Show all clients' }).waitFor()
    await follow(page, '/tags?vendor=meta&client=7d444840-9dc0-41d1-b245-5ffdce74fad2')
    await page.getByRole('button', { name: 'Show all clients' }).waitFor()
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Vendor', 'its name is not known')
    assert.ok(
      browserErrors.every((text) => /status of 404/.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })
})
