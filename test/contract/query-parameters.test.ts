import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { BODIES, ID } from './bodies.ts'

interface Operation {
  requestBody?: { required?: boolean }
  responses: Record<string, unknown>
}

test('a parameter that a call does not know is a 400 that names it, whatever the call', async (t) => {
  const api = await startTestService(t, systemClock)
  const answer = await api.call('GET', '/api/openapi.json')
  const { paths } = answer.json<{ paths: Record<string, Record<string, Operation>> }>()
  const asked = new Set<string>()
  for (const [path, methods] of Object.entries(paths)) {
    // Ingest has keys and answers of its own, and what is outside of the interface has no parameters to be misspelt.
    // Identity providers come back with fields of their own.
    if (!path.startsWith('/api/') || path === '/api/ingest' || path === '/api/oidc/callback') continue
    for (const [name, { requestBody, responses }] of Object.entries(methods)) {
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
      assert.ok('400' in responses, `${method} ${path} does not describe its 400`)
      // A body that is no part of a call is read all the same, up to its limit.
      assert.ok(method === 'GET' || '413' in responses, `${method} ${path} does not describe its 413`)
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
