import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { follow, inOnePage, openPage, staysAccessible, untilTrue } from './support/page.ts'
import { startEmpty } from './support/target.ts'

/** A client that no service has. */
const NO_CLIENT = '00000000-0000-4000-8000-000000000000'

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('the overview of an empty store has nothing to search or to filter', async (t) => {
  const service = await startEmpty(t)
  const { page } = await openPage(t, service.url, '/overview')
  await heading(page, 'Nothing is watched yet').waitFor()
  assert.equal(await page.getByLabel('Find sites and clients').count(), 0)
  assert.equal(await page.getByText('Broken', { exact: true }).count(), 0)
})

test('pages of one client and of all', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const [acme, nordwind] = [await service.newClient({ name: 'ACME' }), await service.newClient({ name: 'Nordwind' })]
  await service.newSite(acme, { name: 'First shop' })
  await service.newSite(nordwind, { name: 'Second shop' })

  await t.test('the overview takes a client in its address as a search for its name', async (t) => {
    const { page } = await open(t, `/overview?client=${nordwind.id}`)
    await page.waitForURL('**/overview?q=Nordwind')
    await page.getByText('Second shop').waitFor()
    await page.getByText('First shop').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save view' }).waitFor()
    await follow(page, '/overview?client=zzz')
    await page.waitForURL('**/overview')
    await page.getByText('First shop').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save view' }).count(), 0)
  })

  await t.test('a client that does not exist leads to all clients', async (t) => {
    const { page, browserErrors } = await open(t, '/overview')
    for (const [path, title] of [
      ['/today?client=zzz', 'Today'],
      [`/today?client=${NO_CLIENT}`, 'Today'],
      ['/tags?client=zzz', 'Tags'],
      ['/alerts?client=zzz', ''],
    ] as const) {
      await follow(page, path)
      await page.getByRole('alert').getByRole('heading', { name: 'Client not found' }).waitFor()
      await staysAccessible(page)
      await page.getByRole('button', { name: 'Show all clients' }).click()
      await page.getByRole('alert').waitFor({ state: 'detached' })
      if (title !== '') await heading(page, title).waitFor()
      assert.equal(new URL(page.url()).search, '')
    }
    assert.ok(browserErrors.splice(0).every((text) => /status of 40[04]/.test(text)))
  })

  await t.test('"?" lists the keyboard shortcuts, except in an input field and over a dialog', async (t) => {
    const { page } = await open(t, '/overview')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.getByLabel('Find sites and clients').press('Shift+?')
    await page.getByLabel('Find sites and clients').fill('')
    assert.equal(await list.count(), 0)
    await page.getByRole('link', { name: 'Show on a wall' }).focus()
    await page.keyboard.press('Shift+?')
    await list.getByText('Acknowledge').waitFor()
    await staysAccessible(page)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    // A dialog is not covered by another one: Escape closes it.
    await page.keyboard.press('/')
    await page.getByLabel(/^Search clients, sites, pages/).press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    for (const key of ['Shift+?', '/']) {
      await follow(page, '/maintenance?dialog=new')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press(key)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  })

  await t.test('a search without a match says what is searched', async (t) => {
    const { page } = await open(t, '/overview')
    await page.getByText('First shop').waitFor()
    await page.keyboard.press('/')
    await page.getByLabel(/^Search clients, sites, pages/).fill('no such thing')
    await page.getByText(/^No match among clients, sites, pages, open incidents and alerts, tags/).waitFor()
    await page.keyboard.press('Escape')
  })

  for (const scheme of ['dark', 'light'] as const) {
    await t.test(`a tooltip has the colours of its theme, in ${scheme}`, async (t) => {
      const { page } = await open(t, '/overview', { scheme })
      await page.getByRole('link', { name: 'Show on a wall' }).hover()
      await page.getByRole('tooltip').waitFor()
      await untilTrue(
        page,
        `((tip) => tip.backgroundColor === '${scheme === 'dark' ? 'rgb(22, 29, 38)' : 'rgb(255, 255, 255)'}')(getComputedStyle(document.querySelector('[role=tooltip]')))`,
      )
    })
  }
})
