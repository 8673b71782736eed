import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { HOUR } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { clock } from './support/clock.ts'
import { startDemo } from './support/demo.ts'
import { choose, sideways } from './support/forms.ts'
import { answering, assertAccessible, chiefly, inOnePage, staysAccessible, untilTrue } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { addTarget, startEmpty } from './support/target.ts'

const INCIDENT = /Meta CAPI.* failed/

const row = (page: Page, text: string | RegExp) => page.getByRole('listitem').filter({ hasText: text })

const heading = (page: Page, state: string) =>
  page.getByRole('heading', { level: 2, name: new RegExp(`^${state} \\d`) })

test('alerts of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)

  for (const variant of chiefly('phone')) {
    await t.test(`inbox and alert in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, '/alerts', variant)
      await row(page, INCIDENT).first().waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the inbox scrolls sideways')
      const narrowest = await page
        .locator('main li a')
        .evaluateAll((titles) => Math.min(...titles.map((title) => title.parentElement?.clientWidth ?? 0)))
      const { width = 0 } = page.viewportSize() ?? {}
      if (variant.device === 'phone') assert.ok(narrowest > width / 2, `a title has ${narrowest} px of ${width}`)
      await screenshot(page, 'alerts', variant)

      await page.getByRole('link', { name: INCIDENT }).first().click()
      await page.waitForURL('**/alerts/*')
      await page
        .getByRole('img', { name: /^Failure rate of Meta CAPI/ })
        .locator('canvas')
        .first()
        .waitFor()
      await page.getByText('Opened', { exact: true }).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the alert scrolls sideways')
      await screenshot(page, 'alert', variant)
    })
  }

  await t.test('dragging over its chart shows that time, Escape or a button shows all again', async (t) => {
    const { page } = await open(t, '/alerts')
    await page.getByRole('link', { name: INCIDENT }).first().click()
    const chart = page.getByRole('img', { name: /^Failure rate of Meta CAPI/ })
    const ask = (from: string) =>
      page.waitForRequest((request) => {
        const { pathname, searchParams } = new URL(request.url())
        return pathname.endsWith('/timeseries') && (searchParams.get('from') ?? '') > from
      })
    await chart.locator('canvas').first().waitFor()
    const drag = async () => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await chart.boundingBox()) ?? {}
      await page.mouse.move(x + 0.5 * width, y + height / 2)
      await page.mouse.down()
      await page.mouse.move(x + 0.8 * width, y + height / 2, { steps: 5 })
      await page.mouse.up()
    }
    const showAll = page.getByRole('button', { name: 'Show all' })
    const asked = ask(new Date(clock.now() - 3 * HOUR).toISOString())
    await drag()
    await asked
    await showAll.waitFor()
    await chart.locator('canvas').first().waitFor()
    await page.keyboard.press('Escape')
    await showAll.waitFor({ state: 'detached' })
    await chart.locator('canvas').first().waitFor()
    await drag()
    await showAll.click()
    await showAll.waitFor({ state: 'detached' })
  })
})

test('alerts about targets that break and are repaired', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)

  await t.test('a target breaks: the alert appears, is acknowledged, and ends with the repair', async (t) => {
    const target = await addTarget(t, service, 'Breaking shop')
    await target.turn('good')
    const { page } = await open(t, '/alerts')
    await page.getByRole('heading', { name: 'Nothing has gone wrong yet' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await staysAccessible(page)

    await target.turn('bad')
    await row(page, target.name)
      .getByRole('link', { name: /answered 503/ })
      .click()
    await page.getByRole('heading', { level: 1, name: /answered 503/ }).waitFor()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByLabel('Comment').fill('The disk is full')
    // A slip loses nothing, and leaving asks.
    await page.keyboard.press('Escape')
    await page.getByLabel('Comment').waitFor({ state: 'detached' })
    await answering(page, false, () => page.getByRole('link', { name: 'Overview' }).first().click())
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    assert.equal(await page.getByLabel('Comment').inputValue(), 'The disk is full')
    await page.getByText('Reminders stop once all alerts of its incident are acknowledged').waitFor()
    await page.getByLabel('Your name').fill('Mara')
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('acknowledged by Mara', { exact: true }).first().waitFor()
    await page.getByText('The disk is full').waitFor()

    await target.turn('good')
    await page.getByText('recovered automatically').waitFor()
    await page.getByText('Resolved', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Resolve' }).count(), 0)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Incidents' }).click()
    await page.getByRole('link', { name: 'All alerts' }).click()
    await heading(page, 'Resolved').waitFor()
    await row(page, target.name).getByText('recovered automatically').waitFor()
  })

  await t.test('an alert shows what has the same cause and why, and takes notes', async (t) => {
    const { store } = service.service
    const target = await addTarget(t, service, 'Dark shop')
    await target.turn('bad')
    const down = await store.read
      .selectFrom('alerts')
      .selectAll()
      .where('client_id', '=', target.clientId)
      .executeTakeFirstOrThrow()
    const probe = await insertProbe(store, down.site_id, { next_run_at: clock.now() + HOUR, interval_seconds: 86_400 })
    const silent = await insertAlert(store, { id: down.site_id, client_id: down.client_id }, down.opened_at, {
      probe_id: probe.id,
      incident_id: down.incident_id,
      title: 'nothing received for 20 min',
    })
    assert.ok(down.incident_id !== null)
    const text = 'Nothing came: it began with the server'
    const joined = { incident_id: down.incident_id, id: silent.id, at: down.opened_at, kind: 'joined', text }
    await store.write.insertInto('incident_events').values(joined).execute()

    const { page } = await open(t, `/alerts/${down.id}`)
    await page.getByText('2 alerts have one cause', { exact: false }).waitFor()
    await page.getByText(text, { exact: true }).waitFor()
    await page.getByLabel('Note', { exact: true }).fill('The provider works on it')
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('list', { name: 'Notes' }).getByText('The provider works on it').waitFor()
    await staysAccessible(page)
    assert.equal(await sideways(page), 0, 'the alert scrolls sideways')
    await page.getByRole('link', { name: 'Nothing received for 20 min' }).click()
    await page.getByRole('heading', { level: 1, name: 'Nothing received for 20 min' }).waitFor()
    await page.getByRole('list', { name: 'Notes' }).getByText('The provider works on it').waitFor()
    await page.getByRole('link', { name: /^Open the incident/ }).click()
    await page
      .getByRole('table')
      .getByRole('link', { name: /^critical since / })
      .first()
      .waitFor()
    await target.turn('good')
  })

  await t.test('an alert of a client without a channel leads to where one is added', async (t) => {
    const target = await addTarget(t, service, 'Unheard shop')
    await target.turn('bad')
    await target.turn('bad')
    const { page } = await open(t, '/alerts?q=unheard')
    await row(page, 'Unheard shop')
      .getByRole('link', { name: /answered 503/ })
      .click()
    await page.getByText('No one to notify: add a channel', { exact: true }).waitFor()
    await staysAccessible(page)
    await page.getByRole('link', { name: 'add a channel' }).click()
    await page.waitForURL(`**/clients/${target.clientId}?dialog=channel`)
    await page.getByRole('dialog', { name: 'Add a channel' }).getByLabel('Kind').waitFor()
    await target.turn('good')
  })

  await t.test('what was done is taken back by a key or a click while a toast offers it', async (t) => {
    const target = await addTarget(t, service, 'Undone shop')
    await target.turn('bad')
    const { page } = await open(t, '/alerts?q=undone')
    const line = row(page, target.name)
    await line.waitFor()

    await page.keyboard.press('j')
    await page.locator('li:focus-within').filter({ hasText: target.name }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('1 alert acknowledged', { exact: true }).waitFor()
    await heading(page, 'Acknowledged').waitFor()
    await page.keyboard.press('u')
    await heading(page, 'Open').waitFor()

    await line.getByRole('button', { name: 'Silence' }).click()
    await page.getByRole('menuitemradio', { name: 'This check', checked: true }).waitFor()
    await page.getByRole('menuitemradio', { name: 'The whole site' }).click()
    await page.getByRole('menuitem', { name: 'Until resolved' }).click()
    await line.getByText('silenced until resolved', { exact: true }).waitFor()
    await page.getByText('Silenced', { exact: true }).waitFor()
    await staysAccessible(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await line.getByText('silenced until resolved', { exact: true }).waitFor({ state: 'detached' })

    await line.getByRole('link', { name: /answered 503/ }).click()
    await page.getByText('Silenced until it is resolved', { exact: true }).waitFor()
    await page.getByText('The silence was ended', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('1 alert acknowledged', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Un-acknowledge' }).click()
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor()
    await page.getByText('No longer acknowledged', { exact: true }).first().waitFor()
    await staysAccessible(page)
    await target.turn('good')
  })

  await t.test('the keyboard moves, opens, silences and acknowledges', async (t) => {
    const targets = [await addTarget(t, service, 'First shop'), await addTarget(t, service, 'Second shop')]
    for (const target of targets) {
      await target.turn('bad')
    }
    const { page } = await open(t, '/alerts?q=answered+503&state=open')
    for (const { name } of targets) await row(page, name).waitFor()
    const focused = (text: string) => page.locator('li:focus-within').filter({ hasText: text })

    await page.keyboard.press('j')
    await focused('First shop').waitFor()
    await page.keyboard.press('ArrowDown')
    await focused('Second shop').waitFor()
    await page.keyboard.press('k')
    await focused('First shop').waitFor()

    await page.keyboard.press('s')
    await untilTrue(page, `document.activeElement.getAttribute('role') === 'menuitemradio'`)
    await assertAccessible(page)
    await page.getByRole('menuitem', { name: '1 hour' }).click()
    await row(page, 'First shop')
      .getByText(/^silenced until ([^,]+, )?\d\d:\d\d/)
      .waitFor()
    await staysAccessible(page)

    await page
      .getByRole('checkbox', { name: /answered 503/ })
      .first()
      .focus()
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('2 alerts selected').waitFor()
    await page.getByRole('button', { name: 'Acknowledge 2' }).click()
    await page.getByText('No alert matches').waitFor()
    await page.getByRole('button', { name: 'Show all alerts' }).click()
    await row(page, 'First shop').getByText(/^by /).waitFor()

    await row(page, 'First shop')
      .getByRole('link', { name: /answered 503/ })
      .focus()
    await focused('First shop').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/alerts/*')
  })

  await t.test('the address holds the filters', async (t) => {
    const targets = [await addTarget(t, service, 'Apple shop'), await addTarget(t, service, 'Pear shop')]
    for (const target of targets) await target.turn('bad')
    const { page } = await open(t, '/alerts')
    await row(page, 'Pear shop').waitFor()
    await choose(page, 'Client or site', 'Apple shop')
    await page.waitForURL('**/alerts?site=*')
    await row(page, 'Pear shop').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'All clients and sites' }).click()
    await page.getByLabel('Find alerts').fill('503 pear')
    await page.waitForURL('**/alerts?q=503+pear')
    await row(page, 'Apple shop').waitFor({ state: 'detached' })
    await page.reload()
    await row(page, 'Pear shop').waitFor()
    await page.getByText('Resolved', { exact: true }).click()
    await page.waitForURL(/state=resolved/)
    await row(page, 'Pear shop').waitFor({ state: 'detached' })
    await page.goBack()
    await row(page, 'Pear shop').waitFor()
  })

  await t.test('an alert about counts takes feedback, which is shown and can be undone', async (t) => {
    const site = await service.newSite(await service.newClient(), { name: 'Quiet shop' })
    const { store } = service.service
    const probe = { probe_type: 'data_volume', next_run_at: clock.now() + HOUR, interval_seconds: 86_400 }
    const { id: probe_id, probe_type } = await insertProbe(store, site.id, probe)
    const about = { probe_id, probe_type, title: 'no events for 40 min' }
    const { id } = await insertAlert(store, site, clock.now() - 3_600_000, about)
    const { page } = await open(t, `/alerts/${id}`)
    const [fine, real] = ['Not a problem', 'This was real'].map((name) => page.getByRole('button', { name }))
    await page.getByRole('heading', { name: 'Was this alert right?' }).waitFor()
    await staysAccessible(page)

    await fine?.click()
    await page.getByText(/^Not a problem, by someone/).waitFor()
    await page.getByRole('button', { name: 'Not a problem', pressed: true }).waitFor()
    await untilTrue(page, `document.activeElement.textContent === 'Not a problem'`)
    await staysAccessible(page)
    await real?.click()
    await page.getByText(/^This was real, by someone/).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Feedback taken back', { exact: true }).waitFor()
    await page.getByText(/^The answer changes what/).waitFor()
    assert.equal(await page.getByRole('button', { pressed: true }).count(), 0)
  })
})
