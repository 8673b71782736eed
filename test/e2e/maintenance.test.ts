import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { clock } from './support/clock.ts'
import { choose, sideways } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, staysAccessible, untilTrue } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startEmpty } from './support/target.ts'

/** Chooses in the dialog: the page behind it has lists of its own. */
async function pick(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('dialog').getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

test('maintenance and silences', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'Nordlicht Digital' })
  const site = await service.newSite(client, { name: 'Feldkamp Outdoor', timezone: 'Europe/Berlin' })
  await service.newSite(await service.newClient({ name: 'Meridian Retail Group' }), { name: 'Harbour Coffee Roasters' })

  await t.test('with nothing planned the page says what it is for', async (t) => {
    const { page } = await open(t, '/maintenance')
    await page.getByText('No silence and no maintenance is in effect.').waitFor()
    await page.getByText(/^Nothing is planned/).waitFor()
    await staysAccessible(page)
  })

  const plan = async (path: string, body: object) => {
    const created = await service.call('POST', path, body)
    assert.equal(created.status, 201, created.text)
  }
  await plan('/api/silences', {
    site_id: site.id,
    ends_at: isoTime(clock.now() + 2 * HOUR),
    comment: 'Moving the tag server',
  })
  await plan('/api/maintenance', {
    client_id: client.id,
    title: 'Database upkeep',
    kind: 'weekly',
    weekdays: [1, 2, 3, 4, 5, 6, 7],
    start: '03:00',
    duration_minutes: 90,
    timezone: 'Europe/Berlin',
  })

  for (const variant of chiefly('phone')) {
    await t.test(`the page and its form in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, '/maintenance', variant)
      const muted = page.getByRole('region', { name: 'Muted now' })
      await muted.getByText('Moving the tag server').waitFor()
      await page.getByText('every day at 03:00 for 1 h 30 min, Europe/Berlin').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'maintenance', variant)
      await page.getByRole('button', { name: 'Plan maintenance' }).click()
      await page.getByText('Every week', { exact: true }).click()
      await page.getByText(/^(Next|Muted now): /).waitFor()
      await assertAccessible(page)
      await screenshot(page, 'maintenance-form', variant)
    })
  }

  await t.test('maintenance is planned, changed, suspended and deleted', async (t) => {
    const { page } = await open(t, '/maintenance?dialog=new')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What is done').fill('New checkout')
    await pick(page, 'Client', 'Nordlicht Digital')
    await pick(page, 'Site', 'Feldkamp Outdoor')
    await dialog.getByLabel(/^From/).fill('2027-10-31T02:30')
    await dialog.getByText('Europe/Berlin · 02:30 comes twice that day: the first counts').waitFor()
    await dialog.getByText('Every week', { exact: true }).click()
    await dialog.getByText('Mon', { exact: true }).click()
    await dialog.getByLabel(/^At\b/).fill('22:30')
    await dialog.getByLabel(/^Minutes/).fill('45')
    await dialog.getByText(/^Next: .*22:30 to /).waitFor()
    await dialog.getByRole('button', { name: 'Plan it' }).click()
    await dialog.waitFor({ state: 'detached' })
    const entry = page
      .getByRole('region', { name: 'Planned' })
      .getByRole('listitem')
      .filter({ hasText: 'New checkout' })
    await entry.getByText('Mon, Sun at 22:30 for 45 min, Europe/Berlin').waitFor()

    await entry.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('What is done').fill('New basket')
    const all = await service.ask<{ id: string; title: string }[]>('GET', '/api/maintenance')
    const { id } = all.find(({ title }) => title === 'New checkout') ?? assert.fail('not planned')
    await service.ask('PATCH', `/api/maintenance/${id}`, { title: 'New till' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Someone has changed this to “New till” meanwhile. Save again to replace it').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'More about New basket' }).click()
    await page.getByRole('menuitem', { name: 'Suspend' }).click()
    await page.getByRole('button', { name: 'Show 1 over or suspended' }).click()
    await page.getByRole('region', { name: 'Over or suspended' }).getByText('suspended', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'More about New basket' }).click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    await page.getByLabel('To confirm, type New basket').waitFor()
    await page.keyboard.press('Escape')
    // The item of the menu that had the focus is gone.
    await untilTrue(page, `document.activeElement.getAttribute('aria-label') === 'More about New basket'`)
    await page.getByRole('button', { name: 'More about New basket' }).click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    await page.getByLabel('To confirm, type New basket').fill('New basket')
    await staysAccessible(page)
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByText('Nothing is over yet.').waitFor()
    // And so is the row.
    await untilTrue(page, `document.querySelector('#content').contains(document.activeElement)`)
  })

  await t.test('a form without a client, or with an end before its start, says what is wrong', async (t) => {
    const { page, browserErrors } = await open(t, '/maintenance?dialog=new')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What is done').fill('Nothing in particular')
    await dialog.getByRole('button', { name: 'Plan it' }).click()
    await dialog.getByText('Choose a client').waitFor()
    await pick(page, 'Client', 'Nordlicht Digital')
    await dialog.getByLabel('Until').fill('2020-01-01T10:00')
    await dialog.getByRole('button', { name: 'Plan it' }).click()
    await dialog.getByText('must be after the start').waitFor()
    assert.ok(
      browserErrors.every((text) => /status of 400/.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })

  await t.test('a silence is made in the form and ended', async (t) => {
    const { page } = await open(t, `/maintenance?site=${site.id}`)
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: '4 hours' }).click()
    await dialog.getByLabel('Why').fill('Load test')
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
    const muted = page.getByRole('region', { name: 'Muted now' }).getByRole('listitem').filter({ hasText: 'Load test' })
    await muted.getByText(/ends in (3\sh|4\sh|\d+\smin)/).waitFor()
    await muted.getByRole('button', { name: 'End now' }).click()
    await muted.waitFor({ state: 'detached' })
  })

  await t.test('the address holds the days and the site', async (t) => {
    const { page } = await open(t, '/maintenance?from=2026-03-02')
    await page.getByRole('heading', { name: '2 – 8 March 2026' }).waitFor()
    await page.getByRole('button', { name: '7 days ahead' }).click()
    await page.waitForURL('**/maintenance?from=2026-03-09')
    await page.getByRole('button', { name: 'Today' }).click()
    await page.waitForURL('**/maintenance')
    await choose(page, 'Client or site', 'Harbour Coffee Roasters')
    await page.waitForURL('**/maintenance?site=*')
    await page.getByText('Moving the tag server').first().waitFor({ state: 'detached' })
    await follow(page, '/maintenance?client=gone')
    await untilTrue(page, `document.querySelector('[aria-label="Client or site"]')?.value === 'Unknown, or paused'`)
  })
})
