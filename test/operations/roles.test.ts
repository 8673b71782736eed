import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { type Config, hasRole, readConfig } from '../../src/config.ts'
import { Ingest } from '../../src/ingest/index.ts'
import type { Store } from '../../src/store/index.ts'
import { Worker } from '../../src/worker.ts'
import { type ApiClient, apiClient } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload, totalEvents } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { asShared, joinNode } from '../cluster/support.ts'
import { PROBE_SURROUNDINGS } from '../probes/support.ts'

/** A worker that is not started asks and sends nothing. */
const WORKER_SURROUNDINGS = {
  outbound: PROBE_SURROUNDINGS.outbound,
  transports: { chat: { send: () => Promise.reject(new Error('tests notify no one')) }, email: null },
  mailer: null,
  publicUrl: () => 'http://127.0.0.1',
}

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

interface RoleNode {
  api: ApiClient
  ingest: Ingest | null
}

/** A listening node of a role on the store. */
async function openNode(t: TestContext, own: Store, role: Config['role']): Promise<RoleNode> {
  const clock = new TestClock(NOW)
  const store = asShared(own)
  const config: Config = { ...readConfig({}), role }
  const onError = () => undefined
  const node = { store, clock, onError, ...(await joinNode(t, store, clock, { role })) }
  const expiry = { expiryTime: () => clock.now() }
  const ingest = hasRole(config, 'ingest')
    ? await Ingest.open({ ...node, expiry, keyHeaders: config.ingestKeyHeaders })
    : null
  const app = await buildApp({
    ...node,
    config,
    ingest,
    worker: hasRole(config, 'worker') ? new Worker({ ...node, expiry, config, ...WORKER_SURROUNDINGS }) : null,
    loops: [],
    outbound: WORKER_SURROUNDINGS.outbound,
    log: pino({ level: 'silent' }),
    mailer: null,
    publicUrl: () => 'http://127.0.0.1',
    clockDoubt: () => null,
    isStopping: () => false,
  })
  t.after(async () => {
    await app.close()
    await ingest?.stop().catch(() => undefined) // The engine's own end may have come first.
  })
  return { api: apiClient(await app.listen({ host: '127.0.0.1', port: 0 })), ingest }
}

const statusOf = async (api: ApiClient, method: string, path: string, body?: unknown, headers = {}) =>
  (await api.call(method, path, body, headers)).status

testLogic('a worker answers people and takes nothing from tags', async (store, t) => {
  const site = await insertSite(store)
  const { api } = await openNode(t, store, 'worker')
  for (const path of ['/ingest', '/api/ingest']) {
    const payload = eventPayload({ timestamp_ms: NOW })
    assert.equal(await statusOf(api, 'POST', path, payload, { 'x-service-key': site.ingest_key }), 404)
  }
  for (const path of ['/health', '/ready', '/api/clients', '/api/dashboard/overview', '/api/nodes', '/api/docs']) {
    assert.equal(await statusOf(api, 'GET', path), 200, path)
  }
  const description = await api.call('GET', '/api/openapi.json')
  assert.equal('/ingest' in description.json<{ paths: object }>().paths, false)
  const { text } = await api.call('GET', '/metrics')
  assert.match(text, /^tagwarden_info\{.*role="worker".*\} 1$/m)
  assert.doesNotMatch(text, /tagwarden_ingest/)
})

testOnEveryEngine('a node for ingest takes what tags send, folds it, and answers nothing else', async (store, t) => {
  const site = await insertSite(store)
  const { api, ingest } = await openNode(t, store, 'ingest')
  for (const path of ['/ingest', '/api/ingest', '/ingest?from=tag']) {
    const payload = eventPayload({ timestamp_ms: NOW })
    assert.equal(await statusOf(api, 'POST', path, payload, { 'x-service-key': site.ingest_key }), 200, path)
  }
  await ingest?.flush()
  assert.equal(await totalEvents(store, site.site_no), 3)
  for (const path of ['/health', '/ready']) assert.equal(await statusOf(api, 'GET', path), 200, path)
  for (const path of ['/', '/api/clients', '/api/nodes', '/api/docs', '/api/openapi.json', '/api/session']) {
    assert.equal(await statusOf(api, 'GET', path), 404, path)
  }
  const { text } = await api.call('GET', '/metrics')
  assert.match(text, /^tagwarden_ingest_requests_total\{result="ok"\} 3$/m)
})
