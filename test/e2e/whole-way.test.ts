import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventPayload } from '../../testkit/deltas.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { clock } from './support/clock.ts'
import { type Demo, startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, openPage, staysAccessible, type Variant } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

const BROKEN = /answered 503/

test('the whole way, from a new client to an alert that is over', async (t) => {
  const demo = await startDemo(t)
  for (const variant of chiefly('phone')) {
    await t.test(`in ${variant.scheme} on a ${variant.device}`, (t) => goTheWay(t, demo, variant))
  }
})

async function goTheWay(t: TestContext, demo: Demo, variant: Required<Variant>): Promise<void> {
  const names = {
    client: `Nordwind ${variant.scheme} ${variant.device}`,
    probe: `Health in ${variant.scheme} on a ${variant.device}`,
  }
  const target = { isBroken: false }
  const tagServer = await startAnswering(t, (_request, response) => {
    response.statusCode = target.isBroken ? 503 : 200
    response.end('ok')
  })
  const { page } = await openPage(t, demo.url, '/', variant)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  // The other pages of the way have tests of their own.
  const looksRight = async (picture?: string) => {
    // A tooltip lies outside the page's landmarks, which axe does not like.
    await page.mouse.move(0, 0)
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    await (picture === undefined ? staysAccessible : assertAccessible)(page)
    assert.equal(await sideways(page), 0, `${page.url()} scrolls sideways`)
    if (picture !== undefined) await screenshot(page, picture, variant)
  }

  await openFromNavigation(page, 'Clients')
  await page.getByRole('link', { name: 'New client' }).first().click()
  await page.getByLabel('Name').fill(names.client)
  await page.getByRole('button', { name: 'Create the client' }).click()
  await page.getByRole('heading', { name: names.client, level: 1 }).waitFor()

  await page.getByRole('link', { name: 'New site' }).click()
  await page.getByLabel('Name').fill('Shop')
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('https://shop.nordwind.example')
  await page.getByRole('button', { name: 'Tag server, containers and more' }).click()
  await page.getByLabel('Tag server address').fill(tagServer)
  await page.getByLabel('Also create the probes that fit').uncheck()
  await page.getByRole('button', { name: 'Create the site' }).click()

  await page.getByRole('heading', { name: 'Waiting for the first event…' }).waitFor()
  await looksRight('first-event')
  await page.getByRole('button', { name: 'Copy ingest key' }).click()
  await page.getByText('Copied').first().waitFor()
  const key = await page.evaluate<string>('navigator.clipboard.readText()')
  const sent = await demo.call('POST', '/ingest', eventPayload({ timestamp_ms: clock.now() }), { 'x-service-key': key })
  assert.equal(sent.status, 200, sent.text)
  await page.getByRole('heading', { name: 'Events arrive' }).waitFor()

  await page.getByRole('link', { name: 'which probes watch it' }).click()
  await page.getByRole('link', { name: 'Add a probe' }).first().click()
  await page.getByRole('button', { name: /^Tag server health/ }).click()
  await page.getByLabel('Name').fill(names.probe)
  await page.getByRole('button', { name: 'Add the probe' }).click()
  await page.getByRole('heading', { name: names.probe, level: 1 }).waitFor()
  await page.getByText('answered 200').first().waitFor()
  const probeId = new URL(page.url()).pathname.split('/').at(-1)
  await looksRight()

  // A window that no one touches, as on a wall: what comes there comes automatically.
  const wall = await page.context().newPage()
  await wall.goto(`/alerts?q=${encodeURIComponent(names.client)}`)
  await wall.getByText('live', { exact: true }).waitFor()
  target.isBroken = true
  await page.getByRole('button', { name: 'Run now' }).click()
  await wall.getByRole('link', { name: BROKEN }).waitFor()
  await wall.close()

  await page.getByRole('definition').getByRole('link', { name: 'Shop' }).click()
  await page.getByRole('link', { name: BROKEN }).first().click()
  await page.getByRole('heading', { level: 1, name: BROKEN }).waitFor()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByLabel('Comment').fill('The container was out of memory')
  await page.getByLabel('Your name').fill('Mara')
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('acknowledged by Mara', { exact: true }).first().waitFor()

  // By the API, as its own next run may be a minute away.
  target.isBroken = false
  const repaired = await demo.call('POST', `/api/probes/${probeId}/run`)
  assert.equal(repaired.json<{ status: string }>().status, 'ok', repaired.text)
  await page.getByText('recovered automatically').waitFor()
  await page.getByText('Resolved', { exact: true }).waitFor()
  await looksRight()
}

/** By the rail, or by the bar at the bottom of a phone, where some pages are behind an entry for the others. */
async function openFromNavigation(page: Page, label: string): Promise<void> {
  const navigation = page.getByRole('navigation', { name: 'Pages' })
  await navigation.waitFor()
  const link = navigation.getByRole('link', { name: label, exact: true })
  if (!(await link.isVisible())) {
    await navigation.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: label }).click()
    return
  }
  await link.click()
}
