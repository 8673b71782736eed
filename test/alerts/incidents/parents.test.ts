import assert from 'node:assert/strict'
import { type Case, lockCases } from '../../../src/alerts/incidents/case.ts'
import { fileAlerts } from '../../../src/alerts/incidents/file-alerts.ts'
import { MINUTE } from '../../../src/lib/index.ts'
import type { AlertRow, SiteRow, Store } from '../../../src/store/index.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic } from '../../../testkit/engines.ts'
import { insertIncident } from '../../../testkit/incidents.ts'
import { insertSite } from '../../../testkit/sites.ts'

/** An incident that people know of, with its one alert. */
async function known(store: Store, site: SiteRow, about: Partial<AlertRow>, parent_id: string | null = null) {
  const alert = await insertAlert(store, site, NOW, { confirmed_at: NOW, ...about })
  const { title } = alert
  const over = { title, announced_at: NOW, announced_alert_id: alert.id, lead_alert_id: alert.id, parent_id }
  const incident = await insertIncident(store, site, NOW, over)
  await store.write.updateTable('alerts').set({ incident_id: incident.id }).where('id', '=', alert.id).execute()
  return incident.id
}

/** Files one more alert of the site, and returns the site's incidents after it. */
async function file(store: Store, site: SiteRow, about: Partial<AlertRow>): Promise<Map<string, Case>> {
  const alert = await insertAlert(store, site, NOW + MINUTE, { confirmed_at: NOW, ...about })
  return store.write.transaction().execute(async (trx) => {
    const cases = await lockCases(trx, store, { incidentIds: [], siteIds: [site.id], now: NOW + MINUTE })
    fileAlerts([{ alert, announced: null, left: null }], cases, new Map(), NOW + MINUTE)
    return cases
  })
}

const TAG: Partial<AlertRow> = { probe_type: 'tag_failure_rate', subject: 'Meta', title: 'Meta fails' }
const SERVER: Partial<AlertRow> = { probe_type: 'http_health', title: 'The server is down' }

testLogic('what a server explains is no longer part of the incident of a vendor', async (store) => {
  const site = await insertSite(store)
  const vendor = await insertIncident(store, null, NOW, { vendor: 'meta' })
  const tag = await known(store, site, TAG, vendor.id)
  const cases = await file(store, site, SERVER)
  assert.deepEqual([cases.get(tag)?.row.title, cases.get(tag)?.row.parent_id], ['The server is down', null])
})

testLogic('of two incidents that a third cause explains neither is part of the other and of itself', async (store) => {
  const site = await insertSite(store)
  const tag = await known(store, site, TAG)
  const consent = await known(store, site, { probe_type: 'cmp_check', title: 'No banner' })
  await store.write.updateTable('incidents').set({ parent_id: consent }).where('id', '=', tag).execute()
  const cases = await file(store, site, SERVER)
  const [top, ...others] = [...cases.values()].filter(({ row }) => row.parent_id === null)
  assert.deepEqual([top?.row.title, others], ['The server is down', []])
  assert.equal([...cases.values()].find(({ row }) => row.parent_id !== null)?.row.parent_id, top?.row.id)
})

testLogic('the timeline of what a check explains that cannot run does not say why it cannot', async (store) => {
  const site = await insertSite(store)
  await known(store, site, { probe_type: 'cmp_check', title: 'No banner' })
  await known(store, site, { probe_type: 'data_freshness', title: 'Nothing received' })
  const title = '“Container” cannot check: 10.0.0.7 refuses the key'
  const cases = await file(store, site, { subject: 'check', severity: 'warning', title })
  const part = [...cases.values()].find(({ row }) => row.parent_id !== null)
  assert.deepEqual(
    part?.events.map(({ kind, text }) => [kind, text]),
    [['belongs', 'A check that cannot run explains it']],
  )
})
