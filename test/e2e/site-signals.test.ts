import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { MINUTE } from '../../src/lib/index.ts'
import { event } from '../../testkit/payloads.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, untilTrue } from './support/page.ts'
import { startService } from './support/service.ts'

await ensureDashboard()

const PANELS = ['Consent', 'Refused by vendors', 'Identifiers', 'Faults of values'] as const
const WITHOUT_CONSENT = 'Tags that ran while ads or analytics was denied'
const LONG = 't'.repeat(256)
/** Each ran once. */
const RARE = Array.from({ length: 10 }, (_, n) => `Vendor ${n + 1}`)
const EVENTS = 40

const tag = (name: string, response?: '2xx' | '4xx') => ({
  ...{ id: name.slice(0, 12), name, status: 'success' as const, execution_time: 40 },
  ...(response !== undefined && { response }),
})

/** Of the events one in four denies ads, and one in twenty analytics. Only Meta keeps to it, and refuses a third of what it gets. */
function purchase(n: number) {
  const isDenied = n % 4 === 0
  return event(clock.now() - n * MINUTE, {
    event_name: 'purchase',
    tags: [
      tag('GA4', '2xx'),
      tag(LONG),
      ...(isDenied ? [] : [tag('Meta CAPI', n % 4 === 1 ? '4xx' : '2xx')]),
      ...(n === 0 ? RARE.map((name) => tag(name)) : []),
    ],
    consent: {
      ad_storage: isDenied ? 'denied' : 'granted',
      analytics_storage: n % 20 === 0 ? 'denied' : 'granted',
      updated: n % 2 === 0,
    },
    identifiers: {
      has_event_id: true,
      has_client_id: n % 2 === 0,
      has_fbp: !isDenied,
      has_fbc: false,
      has_click_id: n % 10 === 0,
      has_ip: true,
      has_user_agent: true,
    },
    ecommerce: {
      has_value: true,
      value_zero: isDenied,
      value_invalid: n % 10 === 1,
      currency_invalid: n % 20 === 1,
      items_empty: false,
      transaction_duplicate: n === 7,
    },
  })
}

/** What people read of a list or of the rows of a table. */
const texts = async (lines: Locator): Promise<string[]> =>
  (await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))

test('a site shows consent, refusals, identifiers and faults of values when it reports them', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient()
  const [site, plain] = [await service.newSite(client), await service.newSite(client, { name: 'Plain shop' })]
  for (let n = 0; n < EVENTS; n++) assert.equal((await service.ingest(site, purchase(n))).status, 200)
  assert.equal((await service.ingest(plain, event(clock.now(), { tags: [tag('GA4')] }))).status, 200)
  await service.service.ingest.flush()

  for (const variant of chiefly('phone')) {
    await t.test(`the panels in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, `/sites/${site.id}`, variant)
      for (const name of [
        /^Consent over time: ads granted 75\s%, ads denied 25\s%, analytics granted 95\s%, no signal 0\s%, never updated 50\s%$/,
        /^Refused by vendors over time: .+ %/,
        /^Identifiers over time: event id 100\s%, client id 50\s%, fbp 75\s%, fbc 0\s%, click id 10\s%, IP address 100\s%, user agent 100\s%$/,
        /^Faults of values over time: value 0 25\s%, value not a number 10\s%, currency not ISO 4217 5\s%, items empty 0\s%, duplicate transaction 2.5\s%$/,
      ]) {
        await page.getByRole('img', { name }).locator('canvas').first().waitFor()
      }
      const of = (panel: (typeof PANELS)[number]) => page.getByRole('region', { name: panel, exact: true })
      await of('Consent')
        .getByText(/^of 40 events that report it\b/)
        .waitFor()
      await of('Identifiers')
        .getByText(/^of 40 events that report them\b/)
        .waitFor()
      await of('Faults of values')
        .getByText(/^of 40 commerce events that report them\b/)
        .waitFor()
      await of('Refused by vendors')
        .getByText(/of 70 executions that report it\b/)
        .waitFor()
      assert.deepEqual(await texts(of('Refused by vendors').getByRole('listitem')), ['Meta CAPI 33 %', 'GA4 0 %'])
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await assertAccessible(page)
    })
  }

  await t.test('tags that ran while consent was denied are named, those that did so most first', async (t) => {
    const { page } = await open(t, `/sites/${site.id}`)
    const consent = page.getByRole('region', { name: 'Consent', exact: true })
    const table = consent.getByRole('region', { name: WITHOUT_CONSENT })
    await table.waitFor()
    const [head, first, second, third, ...others] = await texts(table.getByRole('row'))
    assert.equal(head, 'Tag Executions Ads denied Analytics denied')
    assert.equal(first, 'GA4 40 10 25 % 2 5 %')
    assert.equal(second, `${LONG} 40 10 25 % 2 5 %`)
    assert.equal(third, 'Vendor 1 1 1 100 % 1 100 %')
    assert.equal(others.length, 7)
    await consent.getByText('and 2 more tags', { exact: true }).waitFor()
    assert.equal(await table.getByText('Meta CAPI').count(), 0, 'it keeps to consent')
    await table.getByRole('row', { name: /^GA4/ }).press('Enter')
    await page.getByRole('heading', { name: 'Tag GA4' }).waitFor()
    await untilTrue(page, `new URLSearchParams(location.search).get('tag') === 'GA4'`)
  })

  await t.test('names of 256 characters fit the tables of all tags and events', async (t) => {
    const { page } = await open(t, `/sites/${site.id}?tab=tags`)
    await page.getByRole('region', { name: 'Tags', exact: true }).getByText(LONG).waitFor()
    assert.equal(await sideways(page), 0, 'the page scrolls sideways')
  })

  await t.test('a site that reports none of it has none of these panels', async (t) => {
    const { page } = await open(t, `/sites/${plain.id}`)
    await page.getByRole('region', { name: 'Probes' }).waitFor()
    for (const name of PANELS) assert.equal(await page.getByRole('region', { name, exact: true }).count(), 0, name)
  })
})
