import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { clock } from './support/clock.ts'
import { startDemo } from './support/demo.ts'
import { choose, sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, openPage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startEmpty } from './support/target.ts'

test('the morning of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const [site] = demo.sites
  const silence = { site_id: site?.id, ends_at: isoTime(clock.now() + 2 * HOUR), comment: 'Moving the tag server' }
  assert.equal((await demo.call('POST', '/api/silences', silence)).status, 201)

  for (const variant of chiefly('phone')) {
    await t.test(`shows the night, in ${variant.scheme} on a ${variant.device}, and axe finds nothing`, async (t) => {
      const { page } = await open(t, '/today', variant)
      await page.getByText(/^Wednesday 25 November 2026, 14:\d\d CET · All clients · 4 sites$/).waitFor()
      const night = page.getByRole('region', { name: 'Overnight' })
      await night.getByRole('link', { name: /Meta/ }).first().waitFor()
      await night.getByText(/unresolved, since Tue\s24\sNov,\s18:00$/).waitFor()
      await page.getByRole('region', { name: 'Muted' }).getByText('Moving the tag server').waitFor()
      await page.getByText('No client has used up 80 % of its events for this month.').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'today', variant)
    })
  }

  await t.test('with four sites the overview is the start page, and one client can be chosen', async (t) => {
    const { page } = await open(t, '/')
    await page.waitForURL('**/overview')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Today' }).click()
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    await choose(page, 'Client', 'Meridian Retail Group')
    await page.waitForURL('**/today?client=*')
    await page.getByText(/ · Meridian Retail Group · \d sites?$/).waitFor()
    await page.emulateMedia({ media: 'print' })
    await page.getByText(/ · Meridian Retail Group · \d sites?$/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false)
  })
})

test('someone with six sites begins with the morning', async (t) => {
  const service = await startEmpty(t)
  const client = await service.newClient({ name: 'Nordlicht Digital', chat_webhook: 'https://chat.example/hook' })
  const { page } = await openPage(t, service.url, '/today')
  await page.getByText('No site is watched').waitFor()
  await page.getByRole('link', { name: 'Add a site' }).waitFor()
  for (let n = 1; n <= 6; n++) await service.newSite(client, { name: `Shop ${n}`, timezone: 'Europe/Berlin' })
  await page.goto('/')
  await page.waitForURL('**/today')
  await page.getByText('No site is judged yet').waitFor()
  await page.getByText('No site sent anything to compare with last week.').waitFor()
  await staysAccessible(page)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click()
  await page.waitForURL('**/overview')
  await page.getByText('Shop 6').waitFor()
  // "Back" leads to where one was, and not around.
  await page.goBack()
  await page.waitForURL('**/today')
  await page.getByRole('link', { name: 'Tagwarden', exact: true }).click()
  await page.waitForURL('**/today')
  // An old link to a filter is the overview's.
  await page.goto('/?q=shop')
  await page.waitForURL('**/overview?q=shop')
  await page.getByText('Shop 6').waitFor()
})
