import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SiteKeyRecord } from '../../src/management/index.ts'
import { bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways, signIn } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, openPage, staysAccessible, untilTrue } from './support/page.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

/** The browser logs every answer that is an error. */
const EXPECTED = /status of 400/

await ensureDashboard()

test('the keys of a site', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'Nordwind' })
  const keysOf = (site: { id: string }) => service.ask<SiteKeyRecord[]>('GET', `/api/sites/${site.id}/keys`)

  for (const variant of chiefly('phone')) {
    await t.test(`a key is rotated, moved and revoked in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const site = await service.newSite(client, { name: 'Nordwind Shop' })
      await service.ingest(site, eventPayload({ timestamp_ms: clock.now() }))
      await service.service.ingest.flush()
      const { page, browserErrors } = await open(t, `/sites/${site.id}`, variant)
      const dialog = page.getByRole('dialog')
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('heading', { name: 'Ingest keys', level: 1 }).waitFor()
      assert.equal((await page.content()).includes(site.ingest_key), false)
      await page.getByRole('button', { name: 'Rotate main' }).click()
      await dialog.getByLabel("The new key's name").fill('web container')
      await staysAccessible(page)
      await dialog.getByRole('button', { name: 'Rotate the key' }).click()
      await page.getByRole('heading', { name: 'web container' }).waitFor()
      await page.getByText('A sender still uses it: give it the new key before this one ends.').waitFor()
      const [made, old] = await keysOf(site)
      assert.deepEqual([made?.name, old?.name, old?.state], ['web container', 'main', 'expiring'])

      await page.getByRole('button', { name: 'Change the end of main' }).click()
      await dialog.getByLabel('The old key is valid until').fill('2026-11-20T10:00')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('must be in the future: revoke the key to end it at once').waitFor()
      await dialog.getByLabel('The old key is valid until').fill('2026-12-24T10:00')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      assert.equal((await keysOf(site))[1]?.expires_at, '2026-12-24T10:00:00.000Z')

      const add = page.getByRole('button', { name: 'Add a key' })
      await add.click()
      await page.keyboard.press('Escape')
      await untilTrue(page, 'document.activeElement?.textContent === "Add a key"')
      await add.click()
      await dialog.getByLabel('Name').fill('pipeline')
      await dialog.getByRole('button', { name: 'Add the key' }).click()
      await page.getByText('3 keys are valid. Revoke one to add or replace another.').waitFor()
      assert.ok(await add.isDisabled())

      await page.getByRole('button', { name: 'Revoke main' }).click()
      await dialog.getByText(/^A request last came with it at/).waitFor()
      await dialog.getByRole('button', { name: 'Revoke the key' }).click()
      await page.getByText('A sender still uses it, and all it sends is refused: give it a valid key.').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      assert.ok(
        browserErrors.every((text) => EXPECTED.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    })
  }

  await t.test('a site without a valid key says so, and what to do', async (t) => {
    const site = await service.newSite(client, { name: 'Closed shop' })
    await service.ask('POST', `/api/sites/${site.id}/revoke-key`)
    const { page } = await open(t, `/sites/${site.id}/keys`)
    await page.getByText('No key is valid: every request of this site is refused. Add a key.').waitFor()
    await page.getByRole('button', { name: 'Add a key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('fresh')
    await page.getByRole('button', { name: 'Add the key' }).click()
    await page.getByText(/^No key is valid/).waitFor({ state: 'detached' })
  })
})

test('a viewer sees which keys a site has, and neither the keys nor what would change them', async (t) => {
  const service = await startService(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const admin = bearer(ADMIN_TOKEN)
  const client = (await service.call('POST', '/api/clients', { name: 'Acme' }, admin)).json<{ id: string }>()
  const fields = { client_id: client.id, name: 'Shop', url: 'https://shop.example' }
  const site = (await service.call('POST', '/api/sites', fields, admin)).json<{ id: string }>()
  const { page } = await openPage(t, service.url, `/sites/${site.id}/keys`)
  await signIn(page, VIEWER_TOKEN)
  await page.getByRole('heading', { name: 'main' }).waitFor()
  for (const name of ['Add a key', 'Rotate main', 'Revoke main', 'Show key main']) {
    assert.equal(await page.getByRole('button', { name }).count(), 0, name)
  }
  await staysAccessible(page)
})
