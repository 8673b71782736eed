import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, staysAccessible } from './support/page.ts'
import { startService } from './support/service.ts'

await ensureDashboard()

test('what the shop counted, from its file to the page of the site', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)
  const site = await service.newSite(await service.newClient(), { name: 'Counted shop', timezone: 'Europe/Berlin' })
  const hour = clock.now() - (clock.now() % HOUR) - 2 * HOUR
  for (let n = 0; n < 4; n++) {
    assert.equal((await service.ingest(site, eventPayload({ timestamp_ms: hour + n * 60_000 }))).status, 200)
  }
  await service.service.ingest.flush()
  await service.service.store.write
    .updateTable('sites')
    .set({ created_at: hour - 6 * HOUR })
    .execute()
  const file = (lines: readonly string[]) => ({
    name: 'orders.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['event,hour,count', ...lines].join('\n')),
  })

  await t.test('a file with a fault is refused by its line, and the corrected one is written', async (t) => {
    const { page, browserErrors } = await open(t, `/sites/${site.id}/setup`)
    const step = page.getByRole('region', { name: 'Compare with the shop' })
    await step.getByText('optional', { exact: true }).waitFor()
    await step.getByLabel('Source').fill('shop')
    const input = step.locator('input[type=file]')
    await input.setInputFiles(file([`purchase,${isoTime(hour)},5`, 'purchase,yesterday,5']))
    await step.getByText('line 3, hour must be a time with a time zone').waitFor()
    await staysAccessible(page)
    // The browser's own words for the refusal.
    browserErrors.splice(0)
    await input.setInputFiles(file([`purchase,${isoTime(hour)},5`, `purchase,${isoTime(hour - HOUR)},0`]))
    await step.getByText('Written: 2 counts of purchase from shop.').waitFor()
    await step.getByText('1 source').waitFor()
    await staysAccessible(page)
  })

  const [source, event] = ['z'.repeat(64), 'e'.repeat(120)]
  await service.ask('POST', `/api/sites/${site.id}/reference-counts`, {
    counts: [{ source, event, hour: isoTime(hour), count: 3 }],
  })

  for (const variant of chiefly('phone')) {
    await t.test(`the share is on the page of the site in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, `/sites/${site.id}`, variant)
      const panel = page.getByRole('region', { name: 'Captured' })
      await panel.getByRole('img', { name: /^Captured share over time: Captured 80 %/ }).waitFor()
      await panel.getByText('No probe watches it').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      // Names that no one can break.
      await panel.getByLabel('Event and source').selectOption({ index: 1 })
      await panel.getByRole('img', { name: /^Captured share over time: Captured 0 %/ }).waitFor()
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await follow(page, `/sites/${site.id}/setup`)
      await page.getByRole('list', { name: 'Reference counts' }).waitFor()
      assert.equal(await sideways(page), 0, 'the setup scrolls sideways')
    })
  }

  await t.test('the probe is added from there, and what it wants is on the chart', async (t) => {
    const { page } = await open(t, `/sites/${site.id}`)
    await page.getByRole('link', { name: 'add “Comparison with the shop”' }).click()
    await page.getByRole('textbox', { name: 'Source' }).fill('shop')
    await page.getByRole('textbox', { name: 'Event' }).fill('purchase')
    await staysAccessible(page)
    await page.getByRole('button', { name: 'Add the probe' }).click()
    await page.waitForURL(/\/probes\/[0-9a-f-]{36}$/)
    await page.getByText('“shop” has no count of “purchase” for a past day').first().waitFor()
    await follow(page, `/sites/${site.id}`)
    await page.getByRole('region', { name: 'Captured' }).getByText('at least 90 %').waitFor()
  })

  await t.test('sources are deleted, and their panel goes', async (t) => {
    const { page } = await open(t, `/sites/${site.id}/setup`)
    await page.getByRole('button', { name: 'Delete shop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete shop' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Delete z/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('region', { name: 'Compare with the shop' }).getByText('optional', { exact: true }).waitFor()
    await follow(page, `/sites/${site.id}`)
    await page.getByRole('region', { name: 'Uptime' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Captured' }).count(), 0)
  })
})
