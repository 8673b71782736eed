import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OnCallRecord } from '../../src/notifications/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { choose, sideways } from './support/forms.ts'
import { assertAccessible, chiefly, inOnePage, staysAccessible, untilTrue } from './support/page.ts'
import { startService } from './support/service.ts'

/** The browser logs every answer that is an error. */
const EXPECTED = /status of 400/

await ensureDashboard()

test('who is on call', async (t) => {
  const service = await startService(t)
  const open = inOnePage(t, service.url)

  for (const variant of chiefly('phone')) {
    await t.test(`a rotation is set up and overridden in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const client = await service.newClient({ name: 'Nordwind' })
      const plan = () => service.ask<OnCallRecord>('GET', `/api/clients/${client.id}/on-call`)
      const { page, browserErrors } = await open(t, `/clients/${client.id}`, variant)
      const dialog = page.getByRole('dialog')
      await page.getByRole('button', { name: 'Set up a rotation' }).click()
      await dialog.getByRole('group', { name: 'Person 1' }).getByLabel('Name').fill('Ada')
      await dialog.getByRole('group', { name: 'Person 1' }).getByLabel('E-mail').fill('nobody')
      await dialog.getByRole('button', { name: 'Add a person' }).click()
      await dialog.getByRole('group', { name: 'Person 2' }).getByLabel('Name').fill('Grace')
      await dialog.getByRole('button', { name: 'Add a person' }).click()
      await dialog.getByRole('button', { name: 'Remove person 3' }).click()
      await untilTrue(page, `document.activeElement?.value === 'Grace'`)
      await dialog.getByRole('button', { name: 'Move person 2 up' }).click()
      await dialog.getByRole('button', { name: 'Move person 2 up' }).click()
      await untilTrue(page, `document.activeElement?.value === 'Ada'`)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('must be an e-mail address').waitFor()
      await assertAccessible(page)
      await dialog.getByRole('group', { name: 'Person 1' }).getByLabel('E-mail').fill('ada@nordwind.example')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      const region = page.getByRole('region', { name: 'On call' })
      await region.getByText('to the next person after 15 min without acknowledgement').waitFor()
      assert.equal((await plan()).now?.name, 'Ada')

      await region.getByRole('button', { name: 'Add an override …' }).click()
      await choose(page, 'Who stands in', 'Grace')
      await dialog.getByRole('button', { name: 'Add the override' }).click()
      await region.getByText(', standing in').waitFor()
      assert.equal((await plan()).now?.name, 'Grace')
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      assert.ok(
        browserErrors.every((text) => EXPECTED.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
      await region.getByRole('button', { name: 'Delete the override of Grace' }).click()
      await region.getByText(', standing in').waitFor({ state: 'detached' })
    })
  }

  await t.test('an incident that no one has names who is on call', async (t) => {
    const client = await service.newClient({ name: 'Feldkamp' })
    const { id } = await service.newSite(client)
    await service.ask('POST', `/api/clients/${client.id}/on-call`, {
      people: [{ name: 'Mary' }],
      timezone: 'UTC',
      handover_weekday: 1,
      handover_time: '09:00',
      starts_on: '2026-11-16',
    })
    const { store } = service.service
    const site = await store.read.selectFrom('sites').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const probe = await insertProbe(store, id, { next_run_at: clock.now() + 3_600_000 })
    const incident = await insertIncident(store, site, clock.now() - 60_000)
    await insertAlert(store, site, clock.now() - 60_000, { probe_id: probe.id, incident_id: incident.id })
    const { page } = await open(t, `/incidents/${incident.id}`)
    await page.getByText('On call: Mary').waitFor()
    await page.getByText('No one yet').waitFor()
    await staysAccessible(page)
  })
})
