import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureDashboard } from './support/dashboard.ts'
import { choose, sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'

await ensureDashboard()

test('the audit log', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)

  await t.test('says what will be here while it is empty', async (t) => {
    const { page } = await open(t, '/audit')
    await page.getByRole('heading', { name: 'No changes yet' }).waitFor()
    await staysAccessible(page)
  })

  const client = await service.newClient({ name: 'Nordwind', plan: 'free' })
  const site = await service.newSite(client, { name: 'Shop' })
  for (let n = 0; n < 55; n++) {
    await service.call('PATCH', `/api/clients/${client.id}`, { reminder_minutes: n % 2 === 0 ? 60 : null })
  }
  await service.call('PATCH', `/api/sites/${site.id}`, { name: 'Shop of Nordwind', timezone: 'Europe/Berlin' })
  await service.call('PATCH', `/api/clients/${client.id}`, { chat_webhook: 'https://hooks.example/very-secret' })

  for (const variant of chiefly('desktop')) {
    await t.test(`fits in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/audit', variant)
      await page.getByText('Site changed').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'audit', variant)
    })
  }

  await t.test('shows each field before and after, and no secret', async (t) => {
    const { page } = await open(t, '/audit')
    const entry = page.getByRole('listitem').filter({ hasText: 'Site changed' })
    await entry.getByText('Shop of Nordwind').first().waitFor()
    assert.match((await entry.textContent()) ?? '', /before: Shop.*after: Shop of Nordwind/)
    await page.getByText('https://hooks.example/…').waitFor()
    assert.equal((await page.content()).includes('very-secret'), false)
  })

  await t.test('is narrowed to one thing, in the address too, and goes back page by page', async (t) => {
    const { page } = await open(t, '/audit')
    await page.getByText('Site changed').waitFor()
    await choose(page, 'Changes of', 'Nordwind')
    await page.waitForURL(`**?entity=${client.id}`)
    await page.getByText('Site changed').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('Client created').count(), 0)
    await page.getByRole('button', { name: 'Show older changes' }).click()
    await page.getByText('Client created').waitFor()
    await page.getByRole('button', { name: 'Show older changes' }).waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByText('Site changed').waitFor()
    await page.getByLabel('Changed by').fill('no one')
    await page.getByRole('heading', { name: 'No change matches' }).waitFor()
    await page.goBack()
    await page.getByText('Site changed').waitFor()
    assert.equal(await page.getByLabel('Changed by').inputValue(), '', 'the name of a filter that no longer applies')
    await page.goForward()
    await page.getByRole('heading', { name: 'No change matches' }).waitFor()
    assert.equal(await page.getByLabel('Changed by').inputValue(), 'no one')
    await page.getByRole('button', { name: 'Show everything' }).last().click()
    await page.getByText('Site changed').waitFor()
    assert.equal(await page.getByLabel('Changed by').inputValue(), '')
  })
})
