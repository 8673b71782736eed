import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { bearer } from '../../testkit/api.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { startDemo } from './support/demo.ts'
import { choose, sideways, signIn } from './support/forms.ts'
import {
  answering,
  assertAccessible,
  chiefly,
  follow,
  inOnePage,
  openPage,
  staysAccessible,
  untilTrue,
} from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

/** The browser logs every answer that is an error. */
const EXPECTED = /status of 4(00|09)/

/** In the browser: whether a click on the middle of what has the focus would reach it. */
const UNCOVERED = `(() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect()
  return document.activeElement.contains(document.elementFromPoint(left + width / 2, top + height / 2))
})()`

await ensureDashboard()

test('an empty store leads to a client and a site, and a field says what is wrong with it', async (t) => {
  const service = await startService(t)
  const { page, browserErrors } = await openPage(t, service.url, '/settings')
  await page.getByRole('heading', { name: 'No client yet' }).waitFor()
  await page.getByRole('link', { name: 'Create a client' }).waitFor()
  await follow(page, '/probes/new')
  await page.getByRole('heading', { name: 'No site, so nothing to check' }).waitFor()
  await staysAccessible(page)
  await page.getByRole('link', { name: 'Create a client' }).click()
  // The link is gone with its page.
  await untilTrue(page, `document.activeElement?.id === 'content'`)
  // Windows' high contrast takes away the grounds that a switch is drawn with.
  await page.emulateMedia({ forcedColors: 'active' })
  await page.getByRole('switch').first().waitFor()
  await untilTrue(page, `getComputedStyle(document.querySelector('.mantine-Switch-track')).outlineStyle === 'solid'`)
  await page.emulateMedia({ forcedColors: 'none' })
  await page.getByLabel('Name').fill('Nordwind')
  await page.getByLabel('E-mail address').fill('nobody')
  await choose(page, 'Plan', 'Free')
  // So low that the field is out of sight when the button is pressed.
  const size = page.viewportSize()
  await page.setViewportSize({ width: 1440, height: 320 })
  await page.getByRole('button', { name: 'Create the client' }).click()
  await page.getByText('must be an e-mail address').waitFor()
  await untilTrue(page, 'document.activeElement?.getAttribute("aria-invalid") === "true"')
  const focused =
    '(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())'
  await untilTrue(page, focused)
  if (size !== null) await page.setViewportSize(size)
  await page.getByLabel('E-mail address').fill('team@nordwind.example')
  await page.getByRole('button', { name: 'Create the client' }).click()
  await page.getByRole('heading', { name: 'Nordwind', level: 1 }).waitFor()
  await staysAccessible(page)
  // It also takes those of bars, and of the current page in the rail.
  const month = page.getByRole('list', { name: 'Events by month' }).getByRole('listitem').first()
  await month.waitFor()
  await page.emulateMedia({ forcedColors: 'active' })
  const lost = `[...document.querySelectorAll('[aria-label="Events by month"] li > :first-child, main [aria-hidden] > [style^=width]')]
    .filter((bar) => getComputedStyle(bar).forcedColorAdjust !== 'none').length`
  assert.equal(await page.evaluate(lost), 0, 'bars without a ground')
  const current = `getComputedStyle(document.querySelector('nav [aria-current=page]')).outlineStyle`
  assert.equal(await page.evaluate(current), 'solid')
  await page.emulateMedia({ forcedColors: 'none' })
  // Text of twice the size on a phone.
  await page.getByRole('button', { name: 'Send a test message' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  assert.equal(await sideways(page), 0, 'the page scrolls sideways')
  await page.evaluate("document.documentElement.style.fontSize = ''")
  if (size !== null) await page.setViewportSize(size)

  for (const path of ['/tags', '/compare', '/incidents']) {
    await follow(page, path)
    await page.getByRole('heading', { name: 'No site is watched' }).waitFor()
    await page.getByRole('link', { name: 'Add a site' }).waitFor()
  }
  await page.getByRole('link', { name: 'Add a site' }).click()
  await page.getByRole('heading', { name: 'New site' }).waitFor()
  await follow(page, '/overview')
  await page.getByText('no active site').getByRole('link', { name: 'Add a site' }).click()
  await page.getByLabel('Name').fill('Shop')
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('https://shop.nordwind.example')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Kolkata')
  await page.getByRole('option', { name: /Kolkata|Calcutta/ }).click()
  await page.getByRole('button', { name: 'Tag server, containers and more' }).click()
  await page.getByLabel('Web container').fill('gtm-wrong')
  await page.getByRole('button', { name: 'Create the site' }).click()
  await page.getByText('must be a container id like GTM-ABC1234').waitFor()
  await page.getByLabel('Web container').fill('')
  await staysAccessible(page)
  await page.getByRole('button', { name: 'Create the site' }).click()

  await page.getByRole('heading', { name: 'Waiting for the first event…' }).waitFor()

  assert.ok(
    browserErrors.every((text) => EXPECTED.test(text)),
    browserErrors.join('\n'),
  )
  browserErrors.length = 0
})

/** Holds back what the page writes to an address, once, until it is answered: by the service, or with a refusal. */
async function held(page: Page, address: string) {
  const asked = Promise.withResolvers<Route>()
  const ended = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() === 'GET') return route.fallback()
    asked.resolve(route)
    await ended.promise
  })
  return {
    async answer(refusal?: object) {
      const route = await asked.promise
      const response = refusal === undefined ? { response: await route.fetch() } : { status: 503, json: refusal }
      await route.fulfill(response)
      ended.resolve()
      await page.unroute(address)
    },
  }
}

test('a client and its sites are changed, paused and deleted', async (t) => {
  const received: string[] = []
  const chat = await startAnswering(t, (request, response) => {
    request.on('data', (part) => received.push(String(part))).on('end', () => response.end('ok'))
  })
  const service = await startService(t, { OUTBOUND_ALLOW: '127.0.0.0/8' })
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'Feldkamp' })
  const site = await service.newSite(client, { name: 'Doomed shop' })

  await t.test('limits of its own come with the plan enterprise', async (t) => {
    const { page } = await open(t, `/clients/${client.id}/edit`)
    await page.getByLabel('Requests a second').fill('25')
    // Someone else changes meanwhile what this form leaves alone.
    await service.ask('PATCH', `/api/clients/${client.id}`, { quiet_from: '22:00', quiet_to: '06:00' })
    await page.getByLabel('Events a month').fill('400')
    await page.getByLabel('Chat webhook').fill(`${chat}/hooks/secret`)
    await choose(page, 'Reminders', 'Every hour')
    await staysAccessible(page)
    // And one of the fields that it does not.
    await service.ask('PATCH', `/api/clients/${client.id}`, { reminder_minutes: 240 })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Someone has changed this to “240” meanwhile. Save again to replace it').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`**/clients/${client.id}`)
    await page.getByText(/25 requests a second, 400 events a month/).waitFor()
    await page.getByText('every 60 min while an alert is open').waitFor()
    await page.getByText('22:00 to 06:00 local time').waitFor()
  })

  await t.test('a test message shows the outcome of each channel', async (t) => {
    const mail = { kind: 'email', name: 'Duty', address: 'duty@example.com' }
    const { id } = await service.ask<{ id: string }>('POST', `/api/clients/${client.id}/channels`, mail)
    const { page } = await open(t, `/clients/${client.id}`)
    await page.getByText('duty@example.com · e-mail is off on this server: set SMTP_URL').waitFor()
    await page.getByRole('button', { name: 'Send a test message' }).dblclick()
    await page.getByText('Duty (email): off: SMTP_URL is not set').waitFor()
    await service.ask('DELETE', `/api/clients/${client.id}/channels/${id}`)
    await page.getByText('Chat webhook (webhook)').waitFor()
    await page.getByText('delivered', { exact: true }).waitFor()
    assert.equal(received.length, 1, 'a double click is one message')
    assert.equal((await page.content()).includes('/hooks/secret'), false)
    await staysAccessible(page)
  })

  await t.test('channels are added, tested, edited and deleted', async (t) => {
    for (const variant of chiefly('phone')) {
      // Deleted in the variant before.
      await service.ask('PATCH', `/api/clients/${client.id}`, { chat_webhook: `${chat}/hooks/secret` })
      const { page, browserErrors } = await open(t, `/clients/${client.id}`, variant)
      const offCentre = await page.getByRole('link', { name: 'Edit', exact: true }).evaluate((link) => {
        const [button = Number.NaN, label = Number.NaN] = [link, ...link.children]
          .map((part) => part.getBoundingClientRect())
          .map(({ top, bottom }) => (top + bottom) / 2)
        return Math.abs(button - label)
      })
      assert.ok(offCentre <= 1, `the label of a link is ${offCentre} px off the middle of its button`)
      const dialog = page.getByRole('dialog')
      await page.getByRole('button', { name: 'Edit Chat webhook' }).click()
      await dialog.getByText(/^It is a field of the client/).waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Add a channel' }).click()
      await dialog.getByLabel('Name').fill('Team')
      await dialog.getByLabel('Webhook').fill('https://hooks.slack.com/services/T0/B0/team')
      await dialog.getByLabel('Warnings wait').fill('5')
      await assertAccessible(page)
      // Its end closes it where it was opened, and no dialog of the page that one has gone to meanwhile.
      const adding = await held(page, `**/api/clients/${client.id}/channels`)
      await dialog.getByRole('button', { name: 'Add the channel' }).click()
      await page.evaluate(`__TSR_ROUTER__.navigate({ href: '/maintenance?dialog=new' })`)
      await page.getByRole('dialog', { name: 'Plan maintenance' }).waitFor()
      await adding.answer()
      await untilTrue(page, '__TSR_ROUTER__.options.context.queryClient.isMutating() === 0')
      assert.equal(new URL(page.url()).search, '?dialog=new')
      await follow(page, `/clients/${client.id}`)
      await page.getByText(/^Chat webhook · .* · warnings after 5 min$/).waitFor()
      await page.getByRole('button', { name: 'Edit Team' }).click()
      await dialog.getByLabel('Warnings wait').fill('')
      const patched = page.waitForRequest((request) => request.method() === 'PATCH')
      await dialog.getByRole('button', { name: 'Save' }).click()
      assert.deepEqual((await patched).postDataJSON(), { warnings_after_minutes: null }, 'the rest is left to others')
      await page.getByText(/· warnings after 5 min$/).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Delete Team' }).click()
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('button', { name: 'Delete Team' }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Add a channel' }).click()
      await choose(page, 'Kind', 'PagerDuty')
      await dialog.getByLabel('Name').fill('On call')
      await answering(page, false, () => page.keyboard.press('Escape'))
      await dialog.getByLabel('Integration key').fill('short')
      await choose(page, 'Sends', 'Critical alerts only')
      await dialog.getByRole('button', { name: 'Add the channel' }).click()
      await dialog.getByText('must be a key of 8 to 200 letters and digits').waitFor()
      await staysAccessible(page)
      await dialog.getByLabel('Integration key').fill('R0123456789abcdef')
      await dialog.getByLabel('Endpoint').fill(`${chat}/v2/enqueue`)
      await dialog.getByRole('button', { name: 'Add the channel' }).click()
      await page.getByText('PagerDuty · …cdef · critical alerts only').waitFor()
      await page.getByRole('button', { name: 'Test On call' }).click()
      await page.getByText('delivered', { exact: true }).waitFor()
      assert.equal((await page.content()).includes('R0123456789'), false)
      await staysAccessible(page)
      assert.equal(await sideways(page), 0)
      assert.equal(await page.getByText('No channel here accepts warnings').count(), 0, 'the chat takes them')
      await page.getByRole('button', { name: 'Delete Chat webhook' }).click()
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('No channel here accepts warnings').waitFor()
      await staysAccessible(page)
      await page.getByRole('button', { name: 'Edit On call' }).click()
      await dialog.getByLabel('Name').fill('Night watch')
      await dialog.getByRole('switch', { name: 'Switched on' }).click()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('PagerDuty · …cdef · critical alerts only · switched off').waitFor()
      await page.getByRole('button', { name: 'Delete Night watch' }).click()
      await staysAccessible(page)
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText(/^PagerDuty · …cdef/).waitFor({ state: 'detached' })
      assert.ok(
        browserErrors.every((text) => EXPECTED.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    }
    assert.ok(received.some((body) => body.includes('R0123456789abcdef')))
  })

  await t.test('the plan warns from 80 % on, and refuses from 100 % on', async (t) => {
    const send = (total_events: number) =>
      service.ingest(site, {
        container_id: 'GTM-ABC1234',
        batch: true,
        window_start_ms: clock.now() - 60_000,
        window_end_ms: clock.now(),
        total_events,
      })
    const become = (level: string) =>
      until(`usage ${level}`, async () => {
        const { json } = await service.call('GET', `/api/clients/${client.id}/usage`)
        return json<{ level: string }>().level === level || undefined
      })
    assert.equal((await send(330)).status, 200)
    await become('warning')
    const { page } = await open(t, '/clients')
    await page.getByText(/nearly used up/).waitFor()
    await staysAccessible(page)
    assert.equal((await send(70)).status, 200)
    await become('exceeded')
    await page.reload()
    await page.getByText(/used up: refused/).waitFor()
    await staysAccessible(page)
  })

  await t.test('a site leads to its keys, is paused and deleted', async (t) => {
    const { page, browserErrors } = await open(t, `/sites/${site.id}/edit`)
    // What is typed is lost to no slip; what was never changed, or is put back, holds no one up.
    const leave = () => page.getByRole('link', { name: 'Maintenance' }).click()
    const leaves = () => page.evaluate<boolean>(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`)
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Typed')
    assert.equal(await leaves(), false)
    await answering(page, false, leave)
    assert.equal(await name.inputValue(), 'Typed')
    await name.fill('Doomed shop')
    assert.equal(await leaves(), true)
    // What the save leads to is not for someone who has gone elsewhere before it is answered.
    const saving = await held(page, `**/api/sites/${site.id}`)
    await page.getByRole('button', { name: 'Save' }).click()
    await leave()
    await page.getByRole('heading', { name: 'Maintenance', level: 1 }).waitFor()
    await saving.answer()
    await page.getByText('Doomed shop is saved').waitFor()
    assert.equal(new URL(page.url()).pathname, '/maintenance')
    await follow(page, `/sites/${site.id}/edit`)
    await page.getByRole('link', { name: 'Keys of the site' }).click()
    await page.getByRole('heading', { name: 'Ingest keys', level: 1 }).waitFor()
    await page.goBack()
    // Refused while no one looks at the dialog any more: a toast says so, and the dialog begins afresh.
    await page.getByRole('button', { name: 'Pause …' }).click()
    const refusing = await held(page, `**/api/sites/${site.id}`)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await refusing.answer({ error: 'unavailable', message: 'The database is busy', details: [] })
    await page.getByText('Not done', { exact: true }).waitFor()
    await until('the browser logs the refusal', () => browserErrors.length > 0 || undefined)
    assert.match(browserErrors.splice(0).join(), /^[^,]*status of 503[^,]*$/)
    const atTheEnd = page.getByRole('button', { name: 'Delete …' })
    const size = page.viewportSize()
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 740 })
      await atTheEnd.blur()
      await atTheEnd.focus()
      assert.equal(await page.evaluate(UNCOVERED), true, `a toast lies over the last button at ${width} px`)
    }
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).first().focus()
    assert.equal(await page.evaluate(UNCOVERED), true, 'a toast lies over the rail of a phone')
    if (size !== null) await page.setViewportSize(size)
    await page.getByRole('button', { name: 'Pause …' }).click()
    assert.equal(await page.getByRole('dialog').getByText('The database is busy').count(), 0)
    await page
      .getByRole('dialog')
      .getByText(/^What it sends is refused/)
      .waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await service.ask('POST', '/api/probes', { site_id: site.id, probe_type: 'data_freshness', name: 'Fresh' })
    await follow(page, `/sites/${site.id}/probes`)
    await page.getByText('site paused', { exact: true }).waitFor()
    await page.getByText('1 probe paused').waitFor()
    await follow(page, '/overview')
    await page.getByText('no active site').waitFor()
    await follow(page, `/sites/${site.id}/edit`)
    await page.getByRole('button', { name: 'Delete …' }).click()
    await page.getByLabel('To confirm, type Doomed shop').fill('Doomed shop')
    await page.getByRole('button', { name: 'Delete the site' }).click()
    await page.waitForURL(`**/clients/${client.id}`)
    await page.getByRole('heading', { name: 'No site yet' }).waitFor()
  })

  await t.test('a client is deleted by its name', async (t) => {
    await service.newSite(client, { name: 'Another shop' })
    const { page } = await open(t, `/clients/${client.id}/edit`)
    await page.getByRole('button', { name: 'Delete …' }).click()
    await page.getByText(/Deletes 1 site, 0 probes/).waitFor()
    await page.getByLabel('To confirm, type Feldkamp').fill('Feldkamp')
    const deleting = await held(page, `**/api/clients/${client.id}`)
    await page.getByRole('button', { name: 'Delete the client' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Maintenance' }).click()
    await page.getByRole('heading', { name: 'Maintenance', level: 1 }).waitFor()
    await deleting.answer()
    await page.getByText('Feldkamp is deleted').waitFor()
    assert.equal(new URL(page.url()).pathname, '/maintenance')
    await page.goto(`${service.url}/clients`)
    await page.getByRole('heading', { name: 'No client yet' }).waitFor()
  })
})

test('the warning in the rail leads from the form of one client to the channels of another, whose form takes nothing over', async (t) => {
  const service = await startService(t)
  const [feldkamp, nordwind] = [
    await service.newClient({ name: 'Feldkamp' }),
    await service.newClient({ name: 'Nordwind' }),
  ]
  for (const client of [feldkamp, nordwind]) await service.newSite(client, { name: 'Shop' })
  const { page } = await openPage(t, service.url, `/clients/${feldkamp.id}`)
  const rail = page.getByRole('navigation', { name: 'Pages' })
  await rail.getByRole('link', { name: 'Clients', exact: true }).click()
  await page.getByRole('link', { name: 'Nordwind' }).click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('E-mail address').fill('team@nordwind.example')
  const fix = rail.getByRole('link', { name: 'No one is notified for 2 clients: fix' })
  // Its words touch no edge of its ground.
  await untilTrue(
    page,
    `getComputedStyle(document.querySelector('nav [href^="/clients/${feldkamp.id}"]')).paddingTop === '8px'`,
  )
  await answering(page, true, () => fix.click())
  await page.waitForURL(`**/clients/${feldkamp.id}?dialog=channel`)
  await page.getByRole('dialog', { name: 'Add a channel' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Feldkamp' }).waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'Feldkamp')
  assert.equal(await page.getByLabel('E-mail address').inputValue(), '')
})

test('the clients of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const site = demo.sites[0] ?? assert.fail('no site')
  const channels = `/api/clients/${site.client_id}/channels`
  const onCall = { kind: 'pagerduty', name: 'On call', address: '0123456789abcdef0123456789abcdef' }
  await demo.ask('POST', channels, { ...onCall, minimum_severity: 'critical' })
  const pages = [
    ['client', `/clients/${site.client_id}`, 'Plan and usage'],
    ['client-form', `/clients/${site.client_id}/edit`, 'Notifications'],
    ['site-form', `/sites/${site.id}/edit`, 'Analytics and its export'],
  ] as const

  for (const variant of chiefly('phone')) {
    await t.test(`fit in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/clients', variant)
      await page
        .getByText(/ of 10M/)
        .first()
        .waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the list scrolls sideways')
      await screenshot(page, 'clients', variant)
      for (const [name, path, seen] of pages) {
        await follow(page, path)
        await page.getByText(seen).waitFor()
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, `${path} scrolls sideways`)
        await screenshot(page, name, variant)
      }
    })
  }
})

test('a viewer finds no address, no key and no button that would be refused', async (t) => {
  const service = await startService(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const create = async (path: string, body: object) => {
    const answer = await service.call('POST', path, body, bearer(ADMIN_TOKEN))
    assert.equal(answer.status, 201, answer.text)
    return answer.json<{ id: string }>()
  }
  const client = await create('/api/clients', { name: 'Nordlicht', email: 'tracking@nordlicht.example' })
  const site = await create('/api/sites', { client_id: client.id, name: 'Shop', url: 'https://shop.example' })
  const probe = await create('/api/probes', { site_id: site.id, probe_type: 'data_freshness' })

  const { page } = await openPage(t, service.url, '/clients')
  await signIn(page, VIEWER_TOKEN)
  await page.getByRole('link', { name: 'Nordlicht' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'New client' }).count(), 0)
  await page.getByRole('link', { name: 'Nordlicht' }).click()
  await page.getByRole('heading', { name: 'Messages' }).waitFor()
  await page.getByRole('link', { name: 'Shop' }).waitFor()
  assert.equal(await page.getByText('tracking@nordlicht.example').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Send a test message' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: /^(Edit|New site)$/ }).count(), 0)
  for (const path of ['/clients/new', `/sites/${site.id}/edit`, '/probes/new', `/probes/${probe.id}/edit`]) {
    await follow(page, path)
    await page.getByText('You have read-only access').waitFor()
  }
  await follow(page, '/probes')
  await page.getByRole('link', { name: 'Data freshness' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /^(Run|More for)/ }).count(), 0)
  assert.equal(await page.getByRole('columnheader', { name: 'Actions' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Add a probe' }).count(), 0)
  await staysAccessible(page)
  await follow(page, '/audit')
  await page.getByText('Probe created').waitFor()
  await staysAccessible(page)
})
