import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { chiefly, inOnePage, staysAccessible } from './support/page.ts'
import { startService } from './support/service.ts'

await ensureDashboard()

test('parameters of its own are on the page of a site that names them, and nowhere else', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient()
  const [site, plain] = [await service.newSite(client), await service.newSite(client, { name: 'Plain shop' })]
  const long = 'p'.repeat(256)
  for (let n = 0; n < 40; n++) {
    const timestamp_ms = clock.now() - n * MINUTE
    const fields = { coupon: n % 4 === 0, [long]: true }
    for (const payload of [
      eventPayload({ timestamp_ms, fields }),
      eventPayload({ timestamp_ms, event_name: 'page_view', fields: { group: true } }),
    ]) {
      assert.equal((await service.ingest(site, payload)).status, 200)
    }
  }
  assert.equal((await service.ingest(plain, eventPayload({ timestamp_ms: clock.now() }))).status, 200)
  await service.service.ingest.flush()

  for (const variant of chiefly('phone')) {
    await t.test(`the panel in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, `/sites/${site.id}`, variant)
      const panel = page.getByRole('region', { name: 'Custom parameters' })
      const event = panel.getByLabel('Event of custom parameters')
      await event.selectOption('purchase')
      await panel.getByRole('img', { name: /^Custom parameters over time: coupon 25 %, p{256} 100 %/ }).waitFor()
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await event.selectOption('All events')
      await panel.getByRole('img', { name: /group 100 %/ }).waitFor()
      await staysAccessible(page)
    })
  }

  await t.test('a site that names none has no such panel', async (t) => {
    const { page } = await open(t, `/sites/${plain.id}`)
    await page.getByRole('region', { name: 'Probes' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Custom parameters' }).count(), 0)
  })
})
