import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { clock } from './support/clock.ts'
import { answered, assertAccessible, inOnePage, untilTrue } from './support/page.ts'
import { addTarget, startEmpty } from './support/target.ts'

/** More than an open list has room for. */
const SITES = 12

/** In the browser: the text of what has the focus. */
const FOCUSED = 'document.activeElement === document.body ? "the body" : document.activeElement.textContent'
const focused = (page: Page) => page.evaluate<string>(FOCUSED)

/** Holds changes at this path until the returned function is called. */
async function hold(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    if (route.request().method() !== 'GET') await promise
    await route.continue()
  })
  return resolve
}

test('what has the focus, and what scrolls', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'Acme' })
  const target = await addTarget(t, service, 'Acme shop', client)
  for (let n = 1; n <= SITES; n++) await service.newSite(client, { name: `Shop ${n}` })
  await target.turn('bad')
  const sites = await service.ask<(SiteKey & { name: string })[]>('GET', '/api/sites')
  const site = sites.find(({ name }) => name === 'Acme shop') ?? assert.fail('no site')
  const tags = [{ id: '1', name: 'Our own pixel', status: 'success' as const, execution_time: 40 }]
  const sent = await service.ingest(site, eventPayload({ timestamp_ms: clock.now(), event_name: 'purchase', tags }))
  assert.equal(sent.status, 200, sent.text)

  for (const [path, list] of [
    ['/maintenance', 'Client or site'],
    [`/sites/${site.id}/edit`, 'Time zone'],
  ] as const) {
    await t.test(`a list that is longer than its place scrolls by the keyboard: ${list}`, async (t) => {
      const { page } = await open(t, path)
      const field = page.getByRole('combobox', { name: list })
      await field.click()
      const options = page.getByRole('listbox')
      await options.waitFor()
      const box = await options.boundingBox()
      assert.ok(box !== null && box.height <= 221, `it is ${box?.height} px high`)
      await assertAccessible(page)
      for (let pressed = 0; pressed < 12; pressed++) await page.keyboard.press('ArrowDown')
      await untilTrue(
        page,
        `((list, option) => list.scrollTop > 0 && option.bottom <= list.getBoundingClientRect().bottom + 1)(
          document.querySelector('[role=listbox]'),
          document.querySelector('[role=option][data-combobox-selected]').getBoundingClientRect())`,
      )
      await page.keyboard.press('Escape')
    })
  }

  await t.test('the button that has saved a note keeps the focus, and saves no empty one', async (t) => {
    const [incident] = await service.ask<{ id: string }[]>('GET', `/api/incidents?client_id=${client.id}`)
    const { page } = await open(t, `/incidents/${incident?.id}`)
    const add = page.getByRole('button', { name: 'Add note' })
    assert.equal(await add.getAttribute('disabled'), '', 'one without the focus is disabled')
    await page.getByLabel('Note', { exact: true }).fill('Restarted it')
    await page.keyboard.press('Tab')
    let notes = 0
    page.on('request', (request) => {
      notes += Number(request.url().endsWith('/notes'))
    })
    await add.press('Enter')
    await page.getByRole('list', { name: 'Notes' }).getByText('Restarted it', { exact: true }).waitFor()
    await answered(page)
    await untilTrue(page, `document.querySelector('textarea').value === ''`)
    assert.equal(await focused(page), 'Add note')
    assert.equal(await add.isDisabled(), true)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await answered(page)
    assert.equal(notes, 1)
    await page.keyboard.press('Shift+Tab')
    assert.equal(await add.getAttribute('disabled'), '')
  })

  await t.test('the button that leaves a vendor to its name keeps the focus until it has', async (t) => {
    const { page } = await open(t, `/sites/${site.id}?tag=Our+own+pixel`)
    await page.getByRole('button', { name: 'Set vendor' }).click()
    const vendor = page.getByRole('combobox', { name: 'Vendor' })
    await vendor.click()
    await page.getByRole('listbox').waitFor()
    await assertAccessible(page)
    await vendor.fill('Ours')
    await page.keyboard.press('Enter')
    await vendor.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Set vendor' }).click()
    const byName = page.getByRole('button', { name: 'By its name' })
    const go = await hold(page, '**/tag-vendors/**')
    await byName.press('Enter')
    await untilTrue(page, `document.querySelector('form button[type=submit][data-loading]') !== null`)
    assert.equal(await focused(page), 'By its name')
    assert.equal(await byName.isDisabled(), true)
    go()
    await byName.waitFor({ state: 'detached' })
    await untilTrue(page, `${FOCUSED} === 'Set vendor'`)
  })
})
