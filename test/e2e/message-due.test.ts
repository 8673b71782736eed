import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../testkit/until.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, staysAccessible } from './support/page.ts'
import { startEmpty } from './support/target.ts'

/** A chat that warnings wait for; nothing is sent to it in these minutes. */
const CHAT = 'https://hooks.slack.com/services/T0/B0/all'

test('a warning says when its message is due, and that there is none where it was over before', async (t) => {
  const service = await startEmpty(t, { CHAT_WEBHOOK_URL: CHAT })
  const open = inOnePage(t, service.url)
  const site = await service.newSite(await service.newClient(), { name: 'Warned shop', timezone: 'Europe/Berlin' })
  const config = { period_minutes: 30, grace_minutes: 10 }
  const probe = { site_id: site.id, probe_type: 'push', name: 'Nightly import', config }
  const { id } = await service.ask<{ id: string }>('POST', '/api/probes', probe)
  const { token } = await service.ask<{ token: string }>('GET', `/api/probes/${id}/push`)
  // The call has the probe run.
  const say = (status: 'ok' | 'warning') => service.ask('POST', `/push/${token}?status=${status}&message=3+orders+left`)
  await say('warning')
  const alert = await until('an alert', async () => (await service.ask<{ id: string }[]>('GET', '/api/alerts'))[0])
  const path = `/alerts/${alert.id}`
  const due = /^Warning: message due at \d\d:\d\d \(Slack of every client\)$/

  for (const variant of chiefly('phone')) {
    await t.test(`in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, path, variant)
      await page.getByText(due).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
    })
  }

  await t.test('it is over before its message was due', async (t) => {
    const { page } = await open(t, path)
    await page.getByText(due).waitFor()
    await say('ok')
    await page.getByText('No message: it was over before one was due', { exact: true }).waitFor()
    assert.equal(await page.getByText(due).count(), 0)
    await staysAccessible(page)
    const sent = await service.ask<{ kind: string; over_before_due: boolean }[]>('GET', '/api/deliveries')
    assert.ok(sent.length > 0 && sent.every(({ over_before_due }) => over_before_due), JSON.stringify(sent))
  })
})
