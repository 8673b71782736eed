import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoTime, newId, systemClock } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'

interface Operation {
  requestBody?: { required?: boolean }
}

const ID = newId()

/** A body that each call would take, so that nothing but the parameter is wrong. A call that needs one and is not here fails. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /api/clients': { name: 'Acme' },
  'PATCH /api/clients/{client_id}': { name: 'Acme' },
  'PATCH /api/clients/{client_id}/status-page': { accent: null },
  'POST /api/sites': { client_id: ID, name: 'shop', url: 'https://shop.example' },
  'PATCH /api/sites/{site_id}': { name: 'shop' },
  'POST /api/clients/{client_id}/channels': { kind: 'email', name: 'On call', address: 'ops@acme.example' },
  'PATCH /api/clients/{client_id}/channels/{channel_id}': { name: 'On call' },
  'POST /api/clients/{client_id}/on-call': {
    people: [{ name: 'Ada' }],
    timezone: 'UTC',
    handover_weekday: 1,
    handover_time: '09:00',
    starts_on: '2026-11-16',
  },
  'POST /api/clients/{client_id}/on-call/overrides': {
    person_id: ID,
    starts_at: isoTime(Date.now()),
    ends_at: isoTime(Date.now() + 3_600_000),
  },
  'POST /api/probes': { site_id: ID, probe_type: 'http_health' },
  'PATCH /api/probes/{probe_id}': { name: 'health' },
  'POST /api/silences': { site_id: ID, ends_at: isoTime(Date.now() + 3_600_000) },
  'POST /api/maintenance': {
    site_id: ID,
    kind: 'weekly',
    weekdays: [1],
    start: '03:00',
    duration_minutes: 60,
  },
  'PATCH /api/maintenance/{maintenance_id}': { title: 'Upgrade' },
  'POST /api/alerts/{alert_id}/feedback': { verdict: 'real' },
  'POST /api/incidents/{incident_id}/notes': { text: 'It was the vendor' },
  'POST /api/annotations': { site_id: ID, text: 'Release 12' },
  'POST /api/sites/{site_id}/reference-counts': {
    counts: [{ source: 'shop', event: 'purchase', hour: '2026-11-20T14:00:00Z', count: 3 }],
  },
  'POST /api/sites/{site_id}/keys': { name: 'web container' },
  'PATCH /api/sites/{site_id}/keys/{key_id}': { name: 'web container' },
  'POST /api/sites/{site_id}/special-days': { first_day: '2026-11-27' },
  'POST /api/sites/{site_id}/tag-vendors/{tag_key}': { vendor: 'meta' },
  'POST /api/status/{token}/subscribers': { email: 'reader@example.com' },
  'POST /api/views': { name: 'Broken', path: '/overview?filter=broken' },
  'POST /api/session': { token: 'admin-token-0123456789' },
}

test('a parameter that a call does not know is a 400 that names it, whatever the call', async (t) => {
  const api = await startTestService(t, systemClock)
  const answer = await api.call('GET', '/api/openapi.json')
  const { paths } = answer.json<{ paths: Record<string, Record<string, Operation>> }>()
  const asked = new Set<string>()
  for (const [path, methods] of Object.entries(paths)) {
    // Ingest has keys and answers of its own, and what is outside of the interface has no parameters to be misspelt.
    if (!path.startsWith('/api/') || path === '/api/ingest') continue
    for (const [name, { requestBody }] of Object.entries(methods)) {
      const method = name.toUpperCase()
      const body = BODIES[`${method} ${path}`]
      assert.ok(requestBody?.required !== true || body !== undefined, `${method} ${path} needs a body here`)
      const url = `${path.replaceAll(/\{(token|secret)\}/g, 'x'.repeat(43)).replace(/\{\w+\}/g, ID)}?colour=red`
      const { status, text } = await api.call(method, url, body)
      const shown = `${method} ${path}: ${status} ${text}`
      assert.equal(status, 400, shown)
      const { details } = JSON.parse(text) as { details: { path: string; message: string }[] }
      const named = details.find((detail) => detail.path === '/colour')
      assert.equal(named?.message, 'is not a parameter of this call', shown)
      asked.add(method)
    }
  }
  assert.deepEqual(asked, new Set(['GET', 'POST', 'PATCH', 'DELETE']))
})

test('acknowledging, taking it back and resolving need no body', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient())
  const { store } = api.service
  const far = { next_run_at: Date.now() + 3_600_000 }
  const probe_id = (await insertProbe(store, site.id, far)).id
  const { id } = await insertAlert(store, site, Date.now(), { probe_id })
  for (const [call, state] of [
    ['acknowledge', 'acknowledged'],
    ['unacknowledge', 'open'],
    ['acknowledge', 'acknowledged'],
    ['resolve', 'resolved'],
  ]) {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await api.call('POST', `/api/alerts/${id}/${call}`, undefined, headers)
      assert.equal(answer.status, 200, `${call}: ${answer.text}`)
      assert.equal(answer.json<{ state: string }>().state, state)
    }
  }
})
