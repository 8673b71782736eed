import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY, HOUR, isoTime, MINUTE, newId } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer, type SiteKey } from '../../testkit/api.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { until } from '../../testkit/until.ts'
import { mailServer } from '../notifications/email/smtp-server.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { drawLogo } from './support/logo.ts'
import { assertAccessible, chiefly, inOnePage, openPage, staysAccessible, untilTrue } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

/** What was wrong ten days ago, for 50 minutes. */
const PAST = 'Its tag server did not answer'

const problems = (page: Page) => page.getByRole('list', { name: 'Open problems of Feldkamp Outdoor' })
const history = (page: Page) => page.getByRole('region', { name: 'Incidents of the last 90 days' })

/** A service that asks for a key, with a client of three sites, one of them broken for 18 minutes, one ten days ago, one to be maintained. */
async function start(t: TestContext) {
  await ensureDashboard()
  const service = await startService(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await service.call(method, path, body, bearer(ADMIN_TOKEN))
    assert.ok(answer.status < 300, answer.text)
    return answer.status === 204 ? JSON.parse('null') : answer.json<T>()
  }
  const client = await call<{ id: string }>('POST', '/api/clients', { name: 'Feldkamp Group' })
  const newSite = (name: string) =>
    call<SiteKey>('POST', '/api/sites', { client_id: client.id, name, url: 'https://site.example' })
  const [outdoor, coffee, furniture] = [
    await newSite('Feldkamp Outdoor'),
    await newSite('Harbour Coffee Roasters'),
    await newSite('Maple & Birch Furniture'),
  ]
  const { store } = service.service
  const now = clock.now()
  const far = { next_run_at: now + HOUR, interval_seconds: 86_400, created_at: now }
  const broken = await insertProbe(store, outdoor.id, { ...far, last_status: 'critical' })
  for (const site of [coffee, furniture]) await insertProbe(store, site.id, { ...far, last_status: 'ok' })
  const ofProbe = { probe_id: broken.id, probe_type: broken.probe_type }
  const title = 'Meta CAPI fails on 31 % of purchase events (usually 0.4 %)'
  const tell = async (site: SiteKey, at: number, over: { title: string; state?: string; resolved_at?: number }) => {
    const incident = await insertIncident(store, site, at, { cause: 'tag', ...over })
    const alert = await insertAlert(store, site, at, {
      ...ofProbe,
      incident_id: incident.id,
      confirmed_at: at,
      ...over,
    })
    await store.write.updateTable('incidents').set({ lead_alert_id: alert.id }).where('id', '=', incident.id).execute()
    return { alert, incident }
  }
  const { alert, incident } = await tell(outdoor, now - 18 * MINUTE, { title })
  const past = now - 10 * DAY
  await tell(coffee, past, { title: PAST, state: 'resolved', resolved_at: past + 50 * MINUTE })
  const begins = now + 34 * HOUR
  await call('POST', '/api/maintenance', {
    site_id: furniture.id,
    kind: 'once',
    title: 'Only for those who work on it',
    starts_at: isoTime(begins),
    ends_at: isoTime(begins + 90 * MINUTE),
  })
  for (const [shift, site] of [outdoor, coffee, furniture].entries()) {
    for (let hours = 0; hours < 23; hours++) {
      const at = now - hours * HOUR
      const total_events = Math.round(400 * (1.2 + Math.sin((hours + 3 * shift) / 4)))
      const batch = { container_id: 'GTM-ABC1234', batch: true, window_start_ms: at, window_end_ms: at, total_events }
      assert.equal((await service.ingest(site, batch)).status, 200)
    }
  }
  await service.service.ingest.flush()
  const link = () => call<{ token: string }>('POST', `/api/clients/${client.id}/status-link`)
  const recover = async () => {
    await store.write.updateTable('probes').set({ last_status: 'ok' }).where('id', '=', broken.id).execute()
    const over = { state: 'resolved', resolved_at: clock.now() }
    await store.write.updateTable('alerts').set(over).where('id', '=', alert.id).execute()
    await store.write.updateTable('incidents').set(over).where('id', '=', incident.id).execute()
  }
  return { service, call, client, title, link, recover }
}

test('the shared status page', async (t) => {
  const { service, call, client, title, link, recover } = await start(t)
  const { token } = await link()
  await call('PATCH', `/api/clients/${client.id}/status-page`, {
    accent: '#7a1f3d',
    logo: await drawLogo('Feldkamp', '#7a1f3d'),
  })

  for (const variant of chiefly('phone')) {
    await t.test(
      `shows the status without a key, in ${variant.scheme} on a ${variant.device}; axe finds nothing`,
      async (t) => {
        const { page } = await openPage(t, service.url, `/status/${token}`, variant)
        await page.getByText(/^1 of 3 sites has been broken since (\d+ \w+, )?\d\d:\d\d$/).waitFor()
        await problems(page).getByText(title).waitFor()
        const names = await page.getByRole('heading', { level: 3 }).allTextContents()
        assert.deepEqual(names, ['Feldkamp Outdoor', 'Harbour Coffee Roasters', 'Maple & Birch Furniture'])
        assert.equal(await page.getByRole('img', { name: /^The last 90 days: / }).count(), 3)
        const incidents = history(page).getByRole('listitem')
        assert.equal(await incidents.count(), 2)
        await incidents
          .nth(0)
          .getByRole('link', { name: `Feldkamp Outdoor: ${title}` })
          .waitFor()
        await incidents
          .nth(0)
          .getByText(/ongoing for 1[89]\smin$/)
          .waitFor()
        await incidents
          .nth(1)
          .getByRole('link', { name: `Harbour Coffee Roasters: ${PAST}` })
          .waitFor()
        await incidents
          .nth(1)
          .getByText(/lasted 50\smin$/)
          .waitFor()
        const planned = page.getByRole('region', { name: 'Planned maintenance' }).getByRole('listitem')
        assert.match(
          (await planned.textContent()) ?? '',
          /^Maple & Birch Furniture: 27 Nov, 00:\d\d to 0[12]:\d\d \(90\smin\)$/,
        )
        assert.equal(await page.getByText('Only for those who work on it').count(), 0)
        await page.getByRole('link', { name: 'Atom feed of incidents' }).waitFor()
        await untilTrue(page, 'document.querySelector(\'img[src$="/logo"]\')?.naturalWidth === 160')
        assert.match(await page.title(), /^■ Feldkamp Group: 1 of 3 sites/)
        assert.equal(await page.getByRole('navigation').count(), 0)
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, 'the page scrolls sideways')
        await screenshot(page, 'status', variant)
        await history(page)
          .getByRole('link', { name: `Harbour Coffee Roasters: ${PAST}` })
          .click()
        await page.getByText(/^Resolved: from /).waitFor()
        assert.equal(await page.getByRole('heading', { name: 'What happened' }).count(), 0, 'a heading without a line')
        await staysAccessible(page)
      },
    )
  }

  // The page was seen on one of 390 px.
  await t.test('fits a phone of 360 px and prints in light colours', AT_NIGHT, async (t) => {
    const { page } = await openPage(t, service.url, `/status/${token}`, { scheme: 'dark', device: 'phone' })
    await page.setViewportSize({ width: 360, height: 740 })
    await problems(page).getByText(title).waitFor()
    assert.equal(await sideways(page), 0)
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    await untilTrue(page, "document.documentElement.dataset.mantineColorScheme === 'light'")
  })

  await t.test(
    'renews itself, says when it is cut off, and ends while the client is paused and when the link is revoked',
    async (t) => {
      const { page, browserErrors } = await openPage(t, service.url, 'about:blank')
      await page.clock.install({ time: clock.now() })
      await page.goto(`${service.url}/status/${token}`)
      await page.getByText(/1 of 3 sites has been broken/).waitFor()
      await recover()
      const wait = (text: string | RegExp) =>
        until(String(text), async () => {
          if ((await page.getByText(text).count()) > 0) return true
          await page.clock.runFor(10_000)
          return undefined
        })
      await wait('All fine')
      assert.equal(await problems(page).count(), 0)
      await history(page)
        .getByText(/lasted \d+\smin$/)
        .nth(1)
        .waitFor()
      await page.context().setOffline(true)
      await wait(/Tagwarden cannot be reached: this is how it was/)
      await page.getByText('All fine').waitFor()
      await page.context().setOffline(false)
      await wait(/refreshed automatically every 30\ss/)
      await call('PATCH', `/api/clients/${client.id}`, { is_active: false })
      await wait('This link does not work')
      await call('PATCH', `/api/clients/${client.id}`, { is_active: true })
      await page.clock.fastForward(5 * 60_000)
      await wait('All fine')
      await call('DELETE', `/api/clients/${client.id}/status-link`)
      await wait('This link does not work')
      assert.equal(await page.getByText('Feldkamp Outdoor').count(), 0)
      await staysAccessible(page)
      assert.ok(
        browserErrors.every((text) => /ERR_INTERNET_DISCONNECTED|status of 404/.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    },
  )
})

test('someone subscribes to the page by e-mail, confirms and unsubscribes', async (t) => {
  await ensureDashboard()
  const mail = await mailServer(t)
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SMTP_FROM: 'alerts@example.com' }
  const service = await startService(t, smtp)
  const client = await service.newClient({ name: 'Feldkamp Group' })
  const link = await service.call('POST', `/api/clients/${client.id}/status-link`)
  const open = inOnePage(t, service.url)
  const { page, browserErrors } = await open(t, `/status/${link.json<{ token: string }>().token}`)
  await page.getByLabel('Get incidents and maintenance by e-mail').fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('Enter an e-mail address').waitFor()
  // The browser logs each answer 400.
  browserErrors.length = 0
  await staysAccessible(page)
  await page.getByLabel('Get incidents and maintenance by e-mail').fill('reader@example.com')
  await page.keyboard.press('Enter')
  await page.getByText('An e-mail to reader@example.com is on its way').waitFor()
  await service.service.worker?.loops.find(({ name }) => name === 'status-subscriptions')?.tick()
  const path = /\/status\/[\w-]+\/subscription\/[\w-]+/.exec(mail.mails[0]?.raw.replaceAll('=\r\n', '') ?? '')?.[0]
  await page.goto(path ?? assert.fail('the e-mail has no link'))
  await page.getByRole('button', { name: 'Confirm' }).press('Enter')
  await page.getByText('reader@example.com gets e-mail about incidents and maintenance of Feldkamp Group.').waitFor()
  // The button is gone.
  await untilTrue(page, `document.activeElement.tagName === 'MAIN'`)
  await staysAccessible(page)
  for (const variant of chiefly('desktop')) {
    const { page: again } = await open(t, path ?? '', variant)
    await again.getByRole('button', { name: 'Unsubscribe' }).waitFor()
    await assertAccessible(again)
    assert.equal(await sideways(again), 0, 'the page scrolls sideways')
  }
  await page.getByRole('button', { name: 'Unsubscribe' }).press('Enter')
  await page.getByRole('heading', { name: 'Unsubscribed' }).waitFor()
  await untilTrue(page, `document.activeElement.tagName === 'MAIN'`)
})

test('a reader without an account unsubscribes from digests, and an editor resumes them', async (t) => {
  await ensureDashboard()
  const service = await startService(t)
  const client = await service.newClient({ name: 'Feldkamp Group', email: 'reader@example.com', digest: 'weekly' })
  const secret = 'r'.repeat(43)
  const row = { id: newId(), client_id: client.id, email: 'reader@example.com', secret, created_at: clock.now() }
  await service.service.store.write
    .insertInto('digest_readers')
    .values({ ...row, opted_out_at: null })
    .execute()
  for (const variant of chiefly('phone')) {
    const { page } = await openPage(t, service.url, `/status/digests/${secret}`, variant)
    await page.getByText('reader@example.com gets digests of Feldkamp Group. Alerts are not affected').waitFor()
    await assertAccessible(page)
    assert.equal(await sideways(page), 0, 'the page scrolls sideways')
    const { promise: later, resolve: go } = Promise.withResolvers<void>()
    await page.route('**/digests/**', async (route) => {
      await later
      await route.continue()
    })
    await page.getByRole('button', { name: 'Unsubscribe' }).press('Enter')
    // One that is disabled while it saves would lose the focus.
    const busy = page.locator('button[data-loading]')
    await busy.waitFor()
    assert.equal(await busy.isDisabled(), true)
    await busy.press('Enter')
    go()
    await page.getByRole('heading', { name: 'Unsubscribed' }).waitFor()
    await untilTrue(page, `document.activeElement.textContent === 'Resume digests'`)
    await page.unroute('**/digests/**')
    await staysAccessible(page)
    await page.goto(`${service.url}/clients/${client.id}`)
    await page.getByText('reader@example.com opted out').waitFor()
    await assertAccessible(page)
    const resume = page.getByRole('button', { name: 'Resume digests to reader@example.com' })
    const [text, button] = [
      await page.getByText('reader@example.com opted out').boundingBox(),
      await resume.boundingBox(),
    ]
    assert.ok(text !== null && button !== null && button.x >= text.x + text.width, 'the button is beside its text')
    await resume.press('Enter')
    await page.getByText('reader@example.com opted out').waitFor({ state: 'detached' })
    await untilTrue(page, 'document.activeElement !== document.body')
  }
})

test("the link on the client's page", async (t) => {
  const { service, call, client, link } = await start(t)
  const open = async (t: TestContext, key: string) => {
    const view = await openPage(t, service.url, `/sign-in?next=/clients/${client.id}`)
    await view.page.getByLabel('Key', { exact: true }).fill(key)
    await view.page.keyboard.press('Enter')
    const section = view.page.getByRole('region', { name: 'Shared status page' })
    await section.waitFor()
    return { ...view, section }
  }

  await t.test('is made, shown, opened, and revoked after a question', async (t) => {
    const { page, section } = await open(t, ADMIN_TOKEN)
    await section.getByRole('button', { name: 'Make a link' }).click()
    const address = await section.getByLabel('Link to the status page').inputValue()
    assert.match(address, new RegExp(`^${service.url}/status/[\\w-]{43}$`))
    await section.getByText(/^Shared just now by admin/).waitFor()
    await section.getByRole('button', { name: 'Copy link' }).waitFor()
    await assertAccessible(page)
    const { page: shared, browserErrors } = await openPage(t, service.url, new URL(address).pathname)
    await shared.getByRole('heading', { name: 'Feldkamp Group' }).waitFor()
    await section.getByRole('button', { name: 'Revoke …' }).click()
    await page.getByText('stops working for everyone').waitFor()
    await staysAccessible(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await section.getByRole('button', { name: 'Revoke …' }).click()
    await page.getByRole('button', { name: 'Revoke the link' }).click()
    await section.getByRole('button', { name: 'Make a link' }).waitFor()
    await shared.reload()
    await shared.getByText('This link does not work').waitFor()
    assert.ok(browserErrors.every((text) => /status of 404/.test(text)))
    browserErrors.length = 0
  })

  await t.test('is not shown to a viewer, who sees that there is one', async (t) => {
    const { token } = await link()
    const { page, section } = await open(t, VIEWER_TOKEN)
    await section.getByText(/^Shared .* by admin/).waitFor()
    assert.equal(await section.getByRole('button').count(), 0)
    assert.ok(!(await page.content()).includes(token))
    await call('DELETE', `/api/clients/${client.id}/status-link`)
    await page.reload()
    await section.getByText(/It is not shared/).waitFor()
    assert.equal(await section.getByRole('button').count(), 0)
  })
})
