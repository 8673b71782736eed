import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import { answered, assertAccessible, chiefly, follow, inOnePage, staysAccessible } from './support/page.ts'

/** In the browser: what has the focus, if its lower edge is under something else. */
const COVERED = `(() => {
  const focused = document.activeElement
  const { left, width, bottom } = focused.getBoundingClientRect()
  const there = document.elementFromPoint(left + width / 2, bottom - 3)
  return there?.closest('nav') && !focused.closest('nav') ? focused.outerHTML : null
})()`

test('the pages of the demo store that no other test looks at in each theme', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const site = demo.sites[0] ?? assert.fail('no site')
  const [probe] = await demo.ask<{ id: string }[]>('GET', `/api/probes?site_id=${site.id}`)
  assert.ok(probe !== undefined)
  const pages: readonly [path: string, heading: RegExp][] = [
    [`/sites/${site.id}/probes`, /^Probes/],
    [`/sites/${site.id}/keys`, /^Ingest keys$/],
    [`/probes/${probe.id}/edit`, /^Edit/],
    ['/clients/new', /client/i],
    [`/clients/${site.client_id}/sites/new`, /site/i],
  ]
  const gone = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
  const missing: readonly [path: string, heading: RegExp][] = [
    ['/no/such/page', /^Page not found$/],
    [`/sites/${gone}`, /not found/i],
    [`/sites/${gone}/probes`, /not found/i],
    [`/clients/${gone}`, /not found/i],
    [`/probes/${gone}`, /not found/i],
    [`/alerts/${gone}`, /not found/i],
    [`/incidents/${gone}`, /not found/i],
    [`/status/${gone}`, /does not work/],
  ]
  for (const variant of chiefly('phone')) {
    await t.test(`fit in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/overview', variant)
      for (const [path, heading] of pages) {
        await follow(page, path)
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        await answered(page)
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, `${path} scrolls sideways`)
      }
    })

    await t.test(`lead the keyboard to nothing that lies under the rail on a ${variant.device}`, async (t) => {
      const { page } = await open(t, '/clients/new', variant)
      await page.getByRole('textbox', { name: 'Name' }).focus()
      const covered: string[] = []
      for (let presses = 0; presses < 12; presses++) {
        await page.keyboard.press('Tab')
        const name = await page.evaluate<string | null>(COVERED)
        if (name !== null) covered.push(name)
      }
      assert.deepEqual(covered, [])
    })

    await t.test(
      `say so where nothing is, in ${variant.scheme} on a ${variant.device}; axe finds nothing`,
      async (t) => {
        const { page, browserErrors } = await open(t, '/overview', variant)
        for (const [index, [path, heading]] of missing.entries()) {
          await follow(page, path)
          await page.getByRole('heading', { name: heading }).first().waitFor()
          if (index === 0) assert.equal(await page.title(), 'Page not found · Tagwarden')
          // Those of the dashboard say it in one way.
          await (index === 0 || path.startsWith('/status/') ? assertAccessible : staysAccessible)(page)
          assert.equal(await sideways(page), 0, `${path} scrolls sideways`)
        }
        // It goes on asking; the browser logs each answer 404.
        await follow(page, '/overview')
        const errors = browserErrors.splice(0)
        assert.ok(
          errors.every((text) => /status of 40[04]/.test(text)),
          errors.join('\n'),
        )
      },
    )
  }
})
