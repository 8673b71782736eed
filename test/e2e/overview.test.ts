import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventPayload } from '../../testkit/deltas.ts'
import { until } from '../../testkit/until.ts'
import { clock } from './support/clock.ts'
import { startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import {
  answering,
  assertAccessible,
  chiefly,
  follow,
  inOnePage,
  openPage,
  staysAccessible,
  untilTrue,
  VARIANTS,
} from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startEmpty } from './support/target.ts'

const INCIDENT = /Meta CAPI/

/** On the clock of the device that the tests use. */
const berlinTime = (): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' }).format(
    clock.now(),
  )

test('the overview of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)

  for (const variant of VARIANTS) {
    await t.test(`shows every site, in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/', variant)
      for (const { name } of demo.sites) await page.getByText(name, { exact: true }).waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      const cut = await page
        .locator('main h2')
        .evaluateAll((names) =>
          names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent),
        )
      assert.deepEqual(cut, [], 'names of clients are cut off')
      await screenshot(page, 'overview', variant)
    })
  }

  await t.test('the incident comes first, with what it is, and the tab shows it', async (t) => {
    const { page } = await open(t, '/')
    await page.getByRole('region', { name: 'Open incidents' }).getByRole('link', { name: /Meta/ }).waitFor()
    await page.getByRole('listitem').filter({ hasText: INCIDENT }).first().waitFor()
    assert.match((await page.getByRole('heading', { level: 1 }).textContent()) ?? '', /broken|need/)
    await untilTrue(page, '/^[■▲] \\d+ (critical|warning) · Overview · Tagwarden$/.test(document.title)')
    const icon = await page.locator('link[rel="icon"]').getAttribute('href')
    assert.match(icon ?? '', /favicon-(?:critical|warning)\.svg$/)
  })

  await t.test('a view is saved for everyone, opened by its chip and deleted where it is open', async (t) => {
    const { page, browserErrors } = await open(t, '/overview?filter=broken')
    await page.getByRole('button', { name: 'Save view' }).click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Broken ones')
    await answering(page, false, () => page.getByRole('link', { name: 'Tags' }).first().click())
    if (await name.isHidden()) await page.getByRole('button', { name: 'Save view' }).click()
    assert.equal(await name.inputValue(), 'Broken ones')
    await name.press('Enter')
    await page.getByRole('button', { name: 'Delete the view Broken ones' }).waitFor()
    await staysAccessible(page)
    await follow(page, '/overview')
    await page.getByRole('link', { name: 'Broken ones' }).click()
    await page.waitForURL('**/overview?filter=broken')
    await page.route('**/api/views/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Delete the view Broken ones' }).click()
    await page.getByText('Not deleted').waitFor()
    await page.unroute('**/api/views/*')
    browserErrors.length = 0
    // The focus is still on the button, and then on what it was in.
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Broken ones' }).waitFor({ state: 'detached' })
    await untilTrue(page, `document.activeElement.getAttribute('aria-label') === 'Saved views'`)
  })

  await t.test('on a screen of 320 px the score of a site is not cut off', async (t) => {
    const { page } = await open(t, '/overview', { device: 'phone' })
    await page.setViewportSize({ width: 320, height: 700 })
    const site = page.locator('[data-status]').filter({ has: page.getByRole('link', { name: 'Feldkamp Outdoor' }) })
    const hidden = await site.last().evaluate((row) => row.scrollWidth - row.clientWidth)
    assert.equal(hidden, 0)
  })

  await t.test('the address holds filter and search, and "back" leads to the filter before', async (t) => {
    const { page } = await open(t, '/')
    await page.getByText('Broken', { exact: true }).click()
    await page.waitForURL('**/overview?filter=broken')
    await page.getByText('Harbour Coffee Roasters').waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByText('Harbour Coffee Roasters').waitFor()
    await page.getByLabel('Find sites and clients').fill('harbour')
    await page.waitForURL('**/overview?q=harbour')
    await page.getByText('Feldkamp Outdoor').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('Harbour Coffee Roasters').waitFor()
    assert.equal(await page.getByText('Feldkamp Outdoor').count(), 0)
    await page.getByLabel('Find sites and clients').fill('no such site')
    await page.getByRole('button', { name: 'Show all sites' }).click()
    await page.getByText('Feldkamp Outdoor').waitFor()
  })

  await t.test(
    '"/" opens the search over sites, clients, pages and what has a name, and Enter goes there',
    async (t) => {
      const { page } = await open(t, '/?filter=silent')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('/')
      const search = page.getByLabel(/^Search clients, sites, pages/)
      await search.fill('meta capi')
      await page.getByText('Tags', { exact: true }).last().waitFor()
      await page
        .getByRole('button', { name: /^Meta CAPI/ })
        .first()
        .waitFor()
      await assertAccessible(page)
      await search.fill('maple')
      await page
        .getByRole('button', { name: /Maple & Birch Furniture/ })
        .first()
        .waitFor()
      await staysAccessible(page)
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => !url.search.includes('silent'))
    },
  )

  await t.test('an event that arrives is seen without a reload', async (t) => {
    const site = await demo.newSite(await demo.newClient({ name: 'Newcomer' }), { name: 'Fresh site' })
    const { page } = await open(t, '/')
    const line = page.getByRole('listitem').filter({ hasText: 'Fresh site' })
    await line.getByText('no event yet').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    assert.equal((await demo.ingest(site, eventPayload({ timestamp_ms: clock.now() }))).status, 200)
    await line.getByText('just now').waitFor()
  })

  await t.test('everything is reached by keyboard, in an order that makes sense', async (t) => {
    const { page } = await open(t, '/')
    // Of an earlier test the focus may be anywhere.
    await page.reload()
    await page.getByText('Feldkamp Outdoor').waitFor()
    const names: string[] = []
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press('Tab')
      names.push(
        await page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.innerText ?? ""'),
      )
    }
    assert.deepEqual(names.slice(0, 3), ['Skip to the content', 'Tagwarden', 'Today'])
    assert.ok(names.includes('Find sites and clients'), names.join(' | '))
  })

  await t.test('cut off from the service, the page says so and keeps what it shows', async (t) => {
    const { page, browserErrors } = await open(t, '/')
    await page.getByText('Feldkamp Outdoor').waitFor()
    const earliest = berlinTime()
    await page.context().setOffline(true)
    const banner = page.getByText(/No connection to Tagwarden/)
    await banner.waitFor()
    const [, asOf = ''] = /You see the state as of (\d\d:\d\d)\./.exec((await banner.textContent()) ?? '') ?? []
    assert.ok([earliest, berlinTime()].includes(asOf), `as of "${asOf}"`)
    await untilTrue(page, 'document.title === "no connection · Overview · Tagwarden"')
    assert.equal(await page.getByText('Feldkamp Outdoor').count(), 1)
    await page.context().setOffline(false)
    await banner.waitFor({ state: 'detached' })
    await untilTrue(page, '!document.title.includes("no connection")')
    // The browser logs each connection that it could not make.
    await until(
      'errors of the network only',
      () => browserErrors.every((text) => /ERR_INTERNET_DISCONNECTED/.test(text)) || undefined,
    )
    browserErrors.length = 0
  })

  await t.test('a page that has loaded nothing does not say that it shows a state', async (t) => {
    const { page, browserErrors } = await open(t, '/maintenance')
    await page.route('**/api/dashboard/overview', (route) => route.abort())
    await follow(page, '/alerts')
    // Without names no one knows why a site has none.
    await page.getByText('a site · ').first().waitFor()
    assert.equal(await page.getByText('a paused site').count(), 0)
    assert.equal(await page.getByText(/started .* · detected/).count(), 0, 'in which zone, no one knows')
    await page.context().setOffline(true)
    await page.getByText('No connection to Tagwarden. Trying again.').waitFor()
    await page.unroute('**/api/dashboard/overview')
    // Nothing fails any more once it is there.
    const loaded = page.waitForResponse('**/api/dashboard/overview')
    await page.context().setOffline(false)
    await loaded
    await follow(page, '/maintenance')
    assert.ok(
      browserErrors.splice(0).every((text) => /ERR_(FAILED|INTERNET_DISCONNECTED)/.test(text)),
      'errors of the network only',
    )
  })

  await t.test('is shown as soon as the service answers, and stays where parts of it do not load', async (t) => {
    const { page, browserErrors } = await openPage(t, demo.url, 'about:blank')
    await page.clock.install({ time: clock.now() })
    const busy = { error: 'unavailable', message: 'The database is busy', details: [] }
    const { promise: late, resolve: refuse } = Promise.withResolvers<void>()
    await page.route('**/api/session', async (route) => {
      await late
      await route.fulfill({ status: 503, json: busy })
    })
    await page.route('**/assets/Toasts-*', (route) => route.abort())
    await page.goto('/overview')
    const waiting = page.getByText('Waiting for Tagwarden')
    while ((await waiting.count()) === 0) await page.clock.fastForward(1_000)
    refuse()
    const refusal = page.getByText('Tagwarden cannot answer now')
    while ((await refusal.count()) === 0) await page.clock.fastForward(1_000)
    await page.unroute('**/api/session')
    await page.clock.fastForward(10_000)
    const sites = page.getByRole('region', { name: 'Sites by client' })
    await sites.getByText('Feldkamp Outdoor').waitFor()

    await page.unroute('**/assets/Toasts-*')
    await page.route('**/assets/SearchSpotlight-*', (route) => route.abort())
    await page.reload()
    await sites.getByText('Feldkamp Outdoor').waitFor()
    await page.keyboard.press('/')
    await page.getByText('A part of this page could not be loaded').waitFor()
    assert.equal(await sites.getByText('Feldkamp Outdoor').count(), 1)

    await page.route('**/assets/ClientsPage-*', (route) => route.abort())
    await page.getByRole('link', { name: 'Clients' }).click()
    const retry = page.getByRole('button', { name: 'Try again' })
    await retry.waitFor()
    await page.unroute('**/assets/ClientsPage-*')
    // By itself, as soon as the service answers.
    await page.clock.fastForward(10_000)
    await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor()

    await page.route('**/assets/ChartCanvas-*', (route) => route.abort())
    await follow(page, `/sites/${demo.sites[0]?.id}`)
    await retry.first().waitFor()
    await page.unroute('**/assets/ChartCanvas-*')
    await retry.first().click()
    await page.locator('canvas').first().waitFor()
    assert.ok(browserErrors.length > 0)
    const unexpected = browserErrors
      .splice(0)
      .filter((text) => !/status of 503|ERR_FAILED|The database is busy|dynamically imported|preload CSS/.test(text))
    assert.deepEqual(unexpected, [])
  })
})

test('clients without working notifications', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const clients = [await service.newClient({ name: 'ACME' }), await service.newClient({ name: 'Nordwind' })]
  for (const client of clients) await service.newSite(client, { name: `Shop of ${client.id}` })
  const banner = (page: Page) => page.getByRole('region', { name: /no way to be notified: add a channel/ })

  for (const variant of chiefly('phone')) {
    await t.test(
      `are named on the overview in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
      async (t) => {
        const { page } = await open(t, '/', variant)
        await page.getByRole('heading', { name: '2 clients have no way to be notified: add a channel' }).waitFor()
        assert.equal(await banner(page).getByRole('link').count(), 2)
        await staysAccessible(page)
        assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      },
    )
  }

  await t.test('lead to where a channel is added, and are named no more once they have one', async (t) => {
    const { page } = await open(t, '/')
    const adding = page.getByRole('dialog', { name: 'Add a channel' })
    await banner(page).getByRole('link', { name: 'ACME' }).click()
    await page.waitForURL(`**/clients/${clients[0]?.id}?dialog=channel`)
    await adding.getByRole('button', { name: 'Cancel' }).click()
    await adding.waitFor({ state: 'detached' })
    await page.waitForURL(`**/clients/${clients[0]?.id}`)
    await follow(page, '/probes')
    const reminder = page.getByRole('navigation', { name: 'Pages' }).getByText('No one is notified for 2 clients: fix')
    await reminder.click()
    await adding.getByRole('button', { name: 'Cancel' }).click()
    // Once more, from the page that it leads to.
    await reminder.click()
    await adding.getByRole('button', { name: 'Cancel' }).click()
    for (const { id } of clients) {
      const changed = await service.call('PATCH', `/api/clients/${id}`, { chat_webhook: 'https://chat.example/hook' })
      assert.equal(changed.status, 200, changed.text)
    }
    await follow(page, '/')
    await page.getByText('live', { exact: true }).waitFor()
    assert.equal(await banner(page).count(), 0)
    assert.equal(await reminder.count(), 0)
  })
})

test('clients whose quota is nearly used up, or is', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const chat_webhook = 'https://chat.example/hook'
  for (const [name, count] of [
    ['ACME', 4],
    ['Nordwind', 5],
    ['Fine', 3],
  ] as const) {
    const site = await service.newSite(await service.newClient({ name, events_per_month: 5, chat_webhook }), { name })
    for (let sent = 0; sent < count; sent++) {
      assert.equal((await service.ingest(site, eventPayload({ timestamp_ms: clock.now() }))).status, 200)
    }
  }
  await until('all events are counted', async () => {
    const { text } = await service.call('GET', '/api/dashboard/overview')
    return (text.includes('"exceeded"') && text.includes('"events":4')) || undefined
  })

  for (const variant of chiefly('desktop')) {
    await t.test(
      `are named on the overview in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
      async (t) => {
        const { page } = await open(t, '/', variant)
        const [usedUp, near] = [
          /^1 client has used up its events for this month: nothing it sends is counted/,
          /^1 client has nearly/,
        ]
        const words = async (name: RegExp) => page.getByRole('region', { name }).getByRole('listitem').allInnerTexts()
        await page.getByRole('region', { name: usedUp }).waitFor()
        assert.deepEqual(await words(usedUp), ['Nordwind 100\u00a0% of 5 events'])
        assert.deepEqual(await words(near), ['ACME 80\u00a0% of 5 events'])
        await staysAccessible(page)
        assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      },
    )
  }

  await t.test('lead to the client, and are named no more once the quota is larger', async (t) => {
    const { page } = await open(t, '/')
    const banner = page.getByRole('region', { name: /used up .* events for this month/ })
    await banner.getByRole('link', { name: 'Nordwind' }).click()
    await page.waitForURL('**/clients/*')
    for (const { id } of (await service.call('GET', '/api/clients')).json<{ id: string }[]>()) {
      const changed = await service.call('PATCH', `/api/clients/${id}`, { events_per_month: 50 })
      assert.equal(changed.status, 200, changed.text)
    }
    await follow(page, '/')
    await page.getByText('live', { exact: true }).waitFor()
    assert.equal(await banner.count(), 0)
  })
})

test('a stream that is refused is opened again until it is there', async (t) => {
  const service = await startEmpty(t)
  await service.newSite(await service.newClient({ name: 'ACME' }), { name: 'Shop' })
  const { page, browserErrors } = await openPage(t, service.url, '/clients')
  const refusals = [429, 503]
  await page.route('**/api/stream', (route) => {
    const status = refusals.shift()
    return status === undefined ? route.continue() : route.fulfill({ status, body: '' })
  })
  await page.goto('/')
  await page.getByText('live', { exact: true }).waitFor()
  assert.deepEqual(refusals, [])
  assert.ok(
    browserErrors.every((text) => /429|503/.test(text)),
    browserErrors.join('\n'),
  )
  browserErrors.length = 0
})
