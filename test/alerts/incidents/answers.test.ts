import assert from 'node:assert/strict'
import { type IncidentRecord, incidentRoutes } from '../../../src/alerts/index.ts'
import { type Access, accessOf } from '../../../src/http/index.ts'
import { StoreError } from '../../../src/store/index.ts'
import { bearer } from '../../../testkit/api.ts'
import { NOW, TestClock } from '../../../testkit/clock.ts'
import { memoryCredentials } from '../../../testkit/credentials.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertIncident } from '../../../testkit/incidents.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { steppingStore } from '../../../testkit/stepping-store.ts'
import { KEYS, openApp } from '../../http/support.ts'

testOnEveryEngine('a handled incident is answered when nothing can be read', async (store, t) => {
  const failing = steppingStore(store, async (what) => {
    if (what === 'read') throw new StoreError('unavailable', 'no connection is free')
  })
  const clock = new TestClock(NOW)
  const site = await insertSite(store)
  const vendor = await insertIncident(store, null, NOW, { vendor: 'meta' })
  const { id } = await insertIncident(store, site, NOW, { parent_id: vendor.id })
  const token = `twk_${'x'.repeat(43)}`
  const grants = { all: null, clients: new Map([[site.client_id, 'editor' as const]]) }
  const access: Access = { ...accessOf('viewer'), role: 'token', actor: 'token Bot', grants }
  const app = await openApp(
    t,
    (to) => incidentRoutes(to, { store: failing, clock, channelSettings: { globalWebhook: null, isEmailOn: false } }),
    {
      clock,
      access: KEYS,
      credentials: { ...memoryCredentials(clock), accessesOf: async () => new Map([[token, access]]) },
      ownersOf: async () => new Map([[id, site.client_id]]),
    },
  )
  for (const verb of ['acknowledge', 'unacknowledge']) {
    const answer = await app.inject({ method: 'POST', url: `/api/incidents/${id}/${verb}`, headers: bearer(token) })
    assert.equal(answer.statusCode, 200, answer.body)
    const shown = answer.json<IncidentRecord>()
    // The vendor's incident belongs to no client, so this caller does not see it.
    assert.deepEqual([shown.id, shown.parent_id], [id, null])
  }
})
