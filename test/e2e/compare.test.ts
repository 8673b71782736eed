import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

const CHART = /^Failure rate of Meta CAPI · .* and Meta CAPI · .* over time/

/** In the browser: how the figures are aligned. */
const SIDES = `[...new Set([...document.querySelectorAll('[aria-label="Figures of this time"] tbody td')]
  .map((cell) => getComputedStyle(cell).textAlign))]`

test('two sites of the demo store side by side', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const idOf = (name: string) => demo.sites.find((site) => site.name === name)?.id ?? assert.fail(name)
  const [feldkamp, maple] = [idOf('Feldkamp Outdoor'), idOf('Maple & Birch Furniture')]

  for (const variant of chiefly('desktop')) {
    await t.test(`one tag of both, in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const path = `/compare?a=${feldkamp}&b=${maple}&a_tag=Meta+CAPI&b_tag=Meta+CAPI&range=6h`
      const { page } = await open(t, path, variant)
      await page.getByRole('img', { name: CHART }).locator('canvas').first().waitFor()
      await page.getByRole('columnheader', { name: 'Meta CAPI · Feldkamp Outdoor' }).waitFor()
      // Those of the second site are six hours behind.
      await page.getByText('Times in Europe/Berlin.').waitFor()
      const share = page.getByRole('row').filter({ hasText: 'Failure rate' }).getByRole('cell')
      for (const text of await share.allInnerTexts()) assert.match(text, /^\d+(\.\d)?\s%$/)
      assert.deepEqual(await page.evaluate(SIDES), ['right'], 'numbers that do not end under each other')
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'compare', variant)
    })
  }

  await t.test('is reached from the page of a site, and both sides are chosen there', async (t) => {
    const { page } = await open(t, `/sites/${feldkamp}?range=6h`)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('menuitem', { name: 'With another site …' }).waitFor()
    await staysAccessible(page)
    await page.getByRole('menuitem', { name: 'With another site …' }).click()
    await page.waitForURL((url) => url.pathname === '/compare' && url.searchParams.get('a') === feldkamp)
    await page.getByText('Choose two to compare').waitFor()
    await staysAccessible(page)
    const second = page.getByRole('group', { name: 'Second' })
    await second.getByLabel('Site').click()
    await page.getByRole('option', { name: 'Maple & Birch Furniture' }).waitFor()
    await staysAccessible(page)
    await page.getByRole('option', { name: 'Maple & Birch Furniture' }).click()
    await page.waitForURL((url) => url.searchParams.get('b') === maple)
    await page.getByRole('img', { name: /^Executions of Feldkamp Outdoor and Maple & Birch/ }).waitFor()
    await page.goBack()
    await page.getByText('Choose two to compare').waitFor()
  })

  await t.test('a site that is gone is to be chosen again', async (t) => {
    const { page } = await open(t, `/compare?a=${feldkamp}&b=7d444840-9dc0-41d1-b245-5ffdce74fad2`)
    await page.getByText('Choose two to compare').waitFor()
    await page.getByRole('group', { name: 'First' }).getByLabel('Site').waitFor()
  })
})
