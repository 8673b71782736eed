import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, isoTime } from '../../src/lib/index.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { startDemoOf } from './support/demo.ts'
import { assertAccessible, openPage } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

/** As many days as a demo has that someone starts; the others are shown two. */
const DAYS = 8

const VARIANT = { scheme: 'light', device: 'desktop' } as const

interface Alert {
  id: string
  site_id: string
  probe_type: string
  opened_at: string
}

/** What no outcome of a tag shows: on which site, what finds it, and the panel that shows it, by its name and the label of its chart. */
const FAULTS = [
  ['Saffron Threads', 'consent_signals', 'Consent', /^Consent over time/],
  ['Feldkamp Outdoor', 'duplicates', 'Faults of values', /^Faults of values over time/],
  ['Feldkamp Outdoor', 'vendor_status', 'Refused by vendors', /^Refused by vendors over time/],
] as const

/** Where pictures are written, and at night. */
const options = process.env.SCREENSHOTS === '1' ? {} : AT_NIGHT

test(
  'a week of the demo has a consent that broke, purchases that came twice and a vendor that refused',
  options,
  async (t) => {
    const demo = await startDemoOf(t, DAYS)
    const alerts = await demo.ask<Alert[]>('GET', '/api/alerts?resolved=true&limit=200')
    for (const [name, probeType, panel, label] of FAULTS) {
      await t.test(`${panel} of ${name} shows what ${probeType} found`, async (t) => {
        const site = demo.sites.find((one) => one.name === name) ?? assert.fail('no such site')
        const alert = alerts.find((one) => one.site_id === site.id && one.probe_type === probeType)
        assert.ok(alert !== undefined, 'no alert')
        const opened = Date.parse(alert.opened_at)
        const range = new URLSearchParams({ from: isoTime(opened - DAY / 2), to: isoTime(opened + DAY / 2) })
        const { page } = await openPage(t, demo.url, `/sites/${site.id}?${range}`, VARIANT)
        const shown = page.getByRole('region', { name: panel, exact: true })
        await shown.getByRole('img', { name: label }).locator('canvas').first().waitFor()
        await assertAccessible(page)
        await screenshot(shown, `signals-${probeType.replaceAll('_', '-')}`, VARIANT)
      })
    }

    await t.test('the alert of a silence shows the band that it left', async (t) => {
      const alert = alerts.find(({ probe_type }) => probe_type === 'data_volume') ?? assert.fail('no alert')
      const { page } = await openPage(t, demo.url, `/alerts/${alert.id}`, VARIANT)
      await page
        .getByRole('img', { name: /no events for/i })
        .locator('canvas')
        .first()
        .waitFor()
      await assertAccessible(page)
      await screenshot(page, 'alert-band', VARIANT)
    })

    await t.test('the probe of volume shows the band that it expects', async (t) => {
      const site = demo.sites.find(({ name }) => name === 'Feldkamp Outdoor') ?? assert.fail('no such site')
      const probes = await demo.ask<{ id: string; probe_type: string }[]>('GET', `/api/probes?site_id=${site.id}`)
      const volume = probes.find(({ probe_type }) => probe_type === 'data_volume') ?? assert.fail('no such probe')
      const { page } = await openPage(t, demo.url, `/probes/${volume.id}`, VARIANT)
      const shown = page.getByRole('region', { name: 'Events by hour' })
      await shown
        .getByRole('img', { name: /^Events by hour, of the last day/ })
        .locator('canvas')
        .first()
        .waitFor()
      await assertAccessible(page)
      await screenshot(shown, 'expectation-band', VARIANT)
    })
  },
)
