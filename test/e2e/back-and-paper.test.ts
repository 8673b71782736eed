import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../testkit/until.ts'
import { sideways } from './support/forms.ts'
import { answered, answering, follow, inOnePage, openPage, untilTrue } from './support/page.ts'
import { addTarget, startEmpty } from './support/target.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const gone = (page: Page) => dialog(page).waitFor({ state: 'detached' })
const place = (page: Page) => page.url().slice(new URL(page.url()).origin.length)

/** In the browser: how far each name of a month is from the one before it, px. */
const GAPS_OF_MONTHS = `[...document.querySelectorAll('[aria-label="Events by month"] [aria-hidden]')]
  .filter((one) => getComputedStyle(one).visibility === 'visible')
  .map((one) => {
    const text = document.createRange()
    text.selectNodeContents(one)
    return text.getBoundingClientRect()
  })
  .flatMap(({ left }, at, all) => (at === 0 ? [] : [left - all[at - 1].right]))`

test('steps of the history, changes of the client, and paper', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const [acme, nordwind] = [await service.newClient({ name: 'ACME' }), await service.newClient({ name: 'Nordwind' })]
  const [broken, other] = [
    await addTarget(t, service, 'First shop', acme),
    await addTarget(t, service, 'Second shop', nordwind),
  ]
  await broken.turn('bad')

  await t.test('"back" closes a dialog, and a closed one leaves no step behind', async (t) => {
    const { page } = await open(t, '/clients')
    await follow(page, `/clients/${acme.id}`)
    const add = page.getByRole('button', { name: 'Add a channel' })
    const name = dialog(page).getByLabel('Name')
    await add.click()
    await name.fill('Team')
    await answering(page, false, () => page.goBack())
    assert.equal(await name.inputValue(), 'Team')
    await answering(page, true, () => page.goBack())
    await gone(page)
    assert.equal(place(page), `/clients/${acme.id}`)
    await page.goForward()
    await name.waitFor()
    assert.equal(await name.inputValue(), '')
    await page.reload()
    await dialog(page).getByRole('button', { name: 'Cancel' }).dblclick()
    await gone(page)
    assert.equal(place(page), `/clients/${acme.id}`)
    await add.click()
    await name.fill('Team')
    await answering(page, true, () => page.keyboard.press('Escape'))
    await gone(page)
    await follow(page, '/maintenance?dialog=new')
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await gone(page)
    assert.equal(place(page), '/maintenance', 'a link to a dialog is no step of its own')
  })

  for (const [path, line] of [
    ['/alerts', 'Alerts'],
    ['/incidents', 'Incidents'],
  ] as const) {
    await t.test(`no line of another client is shown on ${path} while those of a client load`, async (t) => {
      const { page } = await open(t, path)
      const lines = page.getByRole('region', { name: line, exact: true }).getByText('First shop')
      await lines.first().waitFor()
      const { promise: later, resolve: go } = Promise.withResolvers<void>()
      await page.route(`**/api/*client_id=${nordwind.id}*`, async (route) => {
        await later
        await route.continue()
      })
      await page.evaluate(`__TSR_ROUTER__.navigate({ href: '${path}?client=${nordwind.id}' })`)
      await page.getByText(/^Loading the/).waitFor({ state: 'attached' })
      assert.equal(await lines.count(), 0)
      go()
      await answered(page)
    })
  }

  await t.test('a change that comes as two messages has each list requested once', async (t) => {
    const { page } = await open(t, '/alerts')
    await answered(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search))
    await other.turn('bad')
    await page.getByRole('region', { name: 'Alerts', exact: true }).getByText('Second shop').first().waitFor()
    await answered(page)
    const lists = asked.filter((path) => path.startsWith('/api/alerts?'))
    assert.deepEqual(lists.toSorted(), [...new Set(lists)].toSorted())
  })

  await t.test('a question of an incident fits a screen of 320 px', async (t) => {
    const [incident] = await service.ask<{ id: string }[]>('GET', `/api/incidents?client_id=${acme.id}`)
    const { page } = await open(t, `/incidents/${incident?.id}`)
    await page.setViewportSize({ width: 320, height: 640 })
    await page.getByRole('button', { name: 'Resolve' }).click()
    await dialog(page).getByLabel('Comment').waitFor()
    assert.equal(await sideways(page), 0)
    await page.keyboard.press('Escape')
    await gone(page)
  })

  await t.test(
    'on a screen of 320 px no name of a month lies on the next, and a filter has room for its words',
    async (t) => {
      const { page } = await open(t, `/clients/${acme.id}`)
      await page.setViewportSize({ width: 320, height: 640 })
      await page.getByRole('list', { name: 'Events by month' }).waitFor()
      const gaps = await page.evaluate<number[]>(GAPS_OF_MONTHS)
      assert.ok(gaps.length >= 5 && gaps.every((gap) => gap > 0), gaps.join(' '))
      await follow(page, '/alerts')
      const filter = await page.getByRole('combobox', { name: 'Client or site' }).boundingBox()
      assert.ok(filter !== null && filter.width > 180, `${filter?.width} px`)
    },
  )

  await t.test('on paper every page is light, and other tabs keep their colours', async (t) => {
    const { page } = await open(t, '/incidents')
    await page.emulateMedia({ colorScheme: 'dark' })
    const tab = await page.context().newPage()
    await tab.emulateMedia({ colorScheme: 'dark' })
    await tab.goto(`${service.url}/clients`)
    const isIn = (scheme: string) => `document.documentElement.dataset.mantineColorScheme === '${scheme}'`
    for (const one of [page, tab]) await untilTrue(one, isIn('dark'))
    const found = await page.evaluate(`(() => {
      window.dispatchEvent(new Event('beforeprint'))
      return [${isIn('light')}, localStorage.getItem('mantine-color-scheme-value')]
    })()`)
    assert.deepEqual(found, [true, null], 'it is light at once, and no other tab is')
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    for (const one of [page, tab]) await untilTrue(one, isIn('dark'))
  })
})

/** In the browser: what waits ten seconds waits a tenth of one. The clock of tests would not say how a document was opened. */
function hurry(): void {
  const { setInterval: begin } = globalThis
  globalThis.setInterval = ((act: () => void, ms?: number) =>
    begin(act, ms === 10_000 ? 100 : ms)) as typeof setInterval
}

test('code that stays missing has a page reloaded once, then by hand', async (t) => {
  const service = await startEmpty(t)
  const { page, browserErrors } = await openPage(t, service.url, 'about:blank')
  await page.addInitScript(hurry)
  let documents = 0
  let answers = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents++
  })
  page.on('response', (response) => {
    if (response.url().endsWith('/api/session')) answers++
  })
  await page.route('**/assets/ClientsPage-*', (route) => route.abort())
  await page.goto(`${service.url}/clients`)
  await until('the page was reloaded', () => documents > 1 || undefined)
  answers = 0
  await until('the service has answered again', () => answers > 4 || undefined)
  await page.getByText('A part of this page could not be loaded').waitFor()
  assert.equal(documents, 2)
  await page.unroute('**/assets/ClientsPage-*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor()
  const unexpected = browserErrors.splice(0).filter((text) => !/ERR_FAILED|dynamically imported|preload CSS/.test(text))
  assert.deepEqual(unexpected, [])
})
