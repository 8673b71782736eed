import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways, signIn } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, openPage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

await ensureDashboard()

test('the setup of a site', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'Nordwind', plan: 'free' })
  const sending = await service.newSite(client, { name: 'Sending shop' })
  const setupOf = ({ id }: { id: string }) => `/sites/${id}/setup`
  const event = (fields: object = {}) => eventPayload({ timestamp_ms: clock.now(), ...fields })

  await t.test('turns green the moment the first event comes, without a reload', async (t) => {
    const site = await service.newSite(client, { name: 'Fresh shop' })
    const { page } = await open(t, setupOf(site))
    await page.getByRole('heading', { name: 'Waiting for the first event…' }).waitFor()
    const notifications = page.getByRole('region', { name: 'Notifications' })
    await notifications.getByText('later', { exact: true }).waitFor()
    const endpoint = page.getByRole('region', { name: 'Endpoint and key' })
    await endpoint.getByText('needs https', { exact: true }).waitFor()
    await endpoint.getByText(/^The tag accepts addresses with https/).waitFor()
    await staysAccessible(page)
    assert.equal((await service.ingest(site, event())).status, 200)
    await page.getByRole('heading', { name: 'Events arrive' }).waitFor()
    await page.getByText('Tags have names').waitFor()
    await notifications.getByText('next', { exact: true }).waitFor()
    await notifications.getByText('No one is notified when Fresh shop breaks').waitFor()
    await endpoint.getByText('ready', { exact: true }).waitFor()
    await endpoint.getByText(/^Events arrive, which is enough for a sender of your own\. The tag accepts/).waitFor()
    await follow(page, '/tags')
    await page.getByRole('heading', { name: 'No tag ran in the last 24 whole hours' }).waitFor()
  })

  await t.test('the checklist stays until someone is notified, and is no longer asked for then', async (t) => {
    const owner = await service.newClient({ name: 'Unnotified' })
    const site = await service.newSite(owner, { name: 'Quiet shop' })
    const { page } = await open(t, `/sites/${site.id}`)
    await page.getByRole('link', { name: 'Setup: no event yet' }).waitFor()
    assert.equal((await service.ingest(site, event())).status, 200)
    await page.getByRole('link', { name: 'Setup: notifications are missing' }).click()
    await page.getByRole('region', { name: 'Events arrive' }).getByText('Is it set up well?').waitFor()
    await page.getByRole('link', { name: 'Add a channel' }).click()
    await page.waitForURL(`**/clients/${owner.id}?dialog=channel`)
    await page.getByRole('dialog', { name: 'Add a channel' }).waitFor()
    const chat = { chat_webhook: 'https://chat.example/hook' }
    assert.equal((await service.call('PATCH', `/api/clients/${owner.id}`, chat)).status, 200)
    await follow(page, setupOf(site))
    const notifications = page.getByRole('region', { name: 'Notifications' })
    await notifications.getByText('ready', { exact: true }).waitFor()
    await notifications.getByText(/^Its client has a channel. Send a test message/).waitFor()
    await follow(page, `/sites/${site.id}`)
    await page.getByRole('link', { name: 'Setup', exact: true }).waitFor()
  })

  await t.test('the key is hidden until it is asked for, and copied whole either way', async (t) => {
    const { page } = await open(t, setupOf(sending))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('heading', { name: 'Endpoint and key' }).waitFor()
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
    assert.equal((await page.content()).includes(sending.ingest_key), false)
    await page.getByRole('button', { name: 'Copy ingest key' }).click()
    await page.getByText('Copied').first().waitFor()
    assert.equal(await clipboard(), sending.ingest_key)
    await page.getByRole('button', { name: 'Show ingest key' }).click()
    await page.getByText(sending.ingest_key, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Hide ingest key' }).click()
    await page.getByText(sending.ingest_key, { exact: true }).waitFor({ state: 'detached' })
  })

  await t.test('the curl line is what the service takes, and is known as a sample', async (t) => {
    const site = await service.newSite(client, { name: 'Tried shop' })
    const { page } = await open(t, setupOf(site))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy curl line' }).click()
    await page.getByText('Copied').first().waitFor()
    const line = await page.evaluate<string>('navigator.clipboard.readText()')
    const [, address = '', key = '', body = ''] =
      /^curl (\S+) .*X-Service-Key: ([^']+)'.*-d '(.+)'$/s.exec(line) ?? assert.fail(line)
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'x-service-key': key, 'content-type': 'application/json' },
      body,
    })
    assert.equal(answer.status, 200)
    await page.getByText(/^sample arrived/).waitFor()
    // It shows that the way is open, and is no event of the site.
    await page.getByRole('heading', { name: 'Waiting for the first event…' }).waitFor()
    assert.equal(
      (await service.call('GET', `/api/sites/${site.id}`)).json<{ last_event_at: null }>().last_event_at,
      null,
    )
  })

  await t.test('the checklist finds what is not set up well, and says what was refused and why', async (t) => {
    const site = await service.newSite(client, { name: 'Sloppy shop' })
    const tags = [
      { id: '12', name: 'GA4', status: 'success', execution_time: 84 },
      { id: '31', status: 'success', execution_time: 120 },
      { id: '42', name: 'Tagwarden Monitoring', status: 'success', execution_time: 0 },
    ]
    assert.equal((await service.ingest(site, event({ tags }))).status, 200)
    assert.equal((await service.ingest(site, event({ user_data: { has_email: 'a@b.example' } }))).status, 400)
    const { page } = await open(t, setupOf(site))
    await page.getByText(/It reports itself as "Tagwarden Monitoring"/).waitFor()
    await page.getByText(/1 of 3 tags is known by id only: tag_31\./).waitFor()
    await page.getByText(/Per event; .* far below the 10 that the client's plan allows/).waitFor()
    await page.getByText('/user_data/has_email').waitFor()
    await page.getByText(/true or false\. Content is refused/).waitFor()
    await staysAccessible(page)
  })

  await t.test('mistakes of the first hour are recognised, and said where they are waited for', async (t) => {
    const site = await service.newSite(client, { name: 'Clumsy shop' })
    const { page } = await open(t, setupOf(site))
    await page.getByRole('heading', { name: 'Waiting for the first event…' }).waitFor()
    const send = (headers: Record<string, string>, method = 'POST') =>
      fetch(`${service.url}/ingest`, {
        method,
        headers,
        ...(method === 'POST' ? { body: JSON.stringify(event()) } : {}),
      })
    await send({ 'x-api-key': site.ingest_key })
    await send({ 'x-service-key': site.ingest_key }, 'GET')
    await send({ 'x-service-key': site.ingest_key, 'content-type': 'text/plain' })
    await send({ 'x-service-key': 'not-a-key' })
    assert.equal((await service.ingest(site, event({ preview: true }))).status, 200)
    await page.getByText('Key in the wrong place').waitFor()
    await page.getByText('header X-Api-Key').waitFor()
    await page.getByText('Not a POST').waitFor()
    await page.getByText('Send the header Content-Type: application/json.').waitFor()
    await page.getByText('Something that is not a key').waitFor()
    await page.getByText('Only previews arrived').waitFor()
    await assertAccessible(page)
    assert.equal(await sideways(page), 0, 'the page scrolls sideways')
    assert.equal((await service.ingest(site, event({ timestamp_ms: clock.now() + 3 * 3_600_000 }))).status, 200)
    await page.getByRole('heading', { name: 'Events arrive' }).waitFor()
    await page.getByRole('heading', { name: 'Why nothing may have arrived yet' }).waitFor({ state: 'detached' })
  })

  for (let n = 0; n < 40; n++) await service.ingest(sending, event())
  for (const variant of chiefly('phone')) {
    await t.test(`fits in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, setupOf(sending), variant)
      await page.getByText('The send mode fits the traffic').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'setup', variant)
    })
  }

  await t.test('a revoked key is said to be, and what to do', async (t) => {
    const site = await service.newSite(client, { name: 'Revoked shop' })
    assert.equal((await service.call('POST', `/api/sites/${site.id}/revoke-key`)).status, 200)
    const { page } = await open(t, setupOf(site))
    await page.getByText(/Tagwarden refuses this key permanently: add a new one/).waitFor()
    await staysAccessible(page)
  })
})

test('a site that waits for long is said what to check by hand', async (t) => {
  let early = 20 * 60_000
  const service = await startService(t, {}, { ...clock, now: () => clock.now() - early })
  const site = await service.newSite(await service.newClient(), { name: 'Silent shop' })
  early = 0
  for (const variant of chiefly('desktop')) {
    const { page } = await openPage(t, service.url, `/sites/${site.id}/setup`, variant)
    await page.getByText('Can the tag server reach 127.0.0.1?').waitFor()
    await page.getByText('Is the container published?').waitFor()
    await assertAccessible(page)
    assert.equal(await sideways(page), 0, 'the page scrolls sideways')
  }
})

test('a viewer sees the steps of a setup, and neither key nor template', async (t) => {
  const service = await startService(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const admin = bearer(ADMIN_TOKEN)
  const client = (await service.call('POST', '/api/clients', { name: 'Acme' }, admin)).json<{ id: string }>()
  const created = await service.call(
    'POST',
    '/api/sites',
    { client_id: client.id, name: 'Shop', url: 'https://shop.example' },
    admin,
  )
  const { page } = await openPage(t, service.url, `/sites/${created.json<{ id: string }>().id}/setup`)
  await signIn(page, VIEWER_TOKEN)
  await page.getByText('Shown to editors only').waitFor()
  await page.getByText('An editor of the client downloads the template here').waitFor()
  assert.equal(await page.getByText('Download the template').count(), 0)
  assert.match((await page.locator('pre').textContent()) ?? '', /\$INGEST_KEY/)
  await staysAccessible(page)
})
