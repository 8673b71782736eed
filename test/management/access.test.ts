import assert from 'node:assert/strict'
import type { ClientRecord, SiteRecord } from '../../src/management/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { ADMIN, openManagement, UNKNOWN_ID, VIEWER, WITH_KEYS } from './support.ts'

interface Document {
  paths: Record<string, Record<string, { security?: unknown[]; responses: Record<string, unknown> }>>
}

testOnEveryEngine('every route needs a key, and every change an admin', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const { paths } = await api.get<Document>('/api/openapi.json')
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security === undefined)
      .map(([method]) => ({ method: method.toUpperCase(), url: path.replace(/\{\w+\}/, UNKNOWN_ID) })),
  )
  assert.ok(operations.length > 20, `${operations.length}`)
  const status = async (operation: { method: string; url: string }, token?: string) =>
    (await api.call(operation.method as 'GET', operation.url, undefined, token)).status
  for (const operation of operations) {
    const name = `${operation.method} ${operation.url}`
    const isRead = operation.method === 'GET'
    assert.equal(await status(operation), 401, name)
    assert.equal((await status(operation, VIEWER)) === 403, !isRead, name)
    assert.ok([200, 400, 404].includes(await status(operation, ADMIN)), name)
  }
})

testOnEveryEngine(
  'a viewer sees neither ingest keys, webhooks, e-mail addresses nor queries of addresses anywhere',
  async (store, t) => {
    const api = await openManagement(store, t, WITH_KEYS)
    const secrets = { email: 'ops@acme.example', chat_webhook: 'https://hooks.example/T0/secret' }
    const client = await api.client(secrets, ADMIN)
    const addresses = {
      url: 'https://shop.example/?preview=s3cret',
      tag_server_url: 'https://t.example/x?token=s3cret#s3cret',
    }
    const site = await api.site(client, addresses, ADMIN)
    await api.patch(`/api/clients/${client.id}`, { email: 'new@acme.example', chat_webhook: null }, ADMIN)
    const urls = [
      '/api/clients',
      `/api/clients/${client.id}`,
      `/api/clients/${client.id}/usage`,
      '/api/sites',
      `/api/sites/${site.id}`,
      '/api/audit',
    ]
    for (const url of urls) {
      const text = JSON.stringify(await api.get(url, VIEWER))
      assert.doesNotMatch(text, /acme\.example|hooks\.example|s3cret/, url)
      assert.ok(!text.includes(String(site.ingest_key)), url)
    }
    const seenClient = await api.get<ClientRecord>(`/api/clients/${client.id}`, VIEWER)
    assert.deepEqual([seenClient.name, seenClient.email, seenClient.chat_webhook], ['Acme', null, null])
    const seenSite = await api.get<SiteRecord>(`/api/sites/${site.id}`, VIEWER)
    const shown = { url: 'https://shop.example/?…', tag_server_url: 'https://t.example/x?…' }
    assert.deepEqual(seenSite, { ...site, ingest_key: null, ...shown })
  },
)

testLogic('an admin sees them', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const client = await api.client({ email: 'ops@acme.example' }, ADMIN)
  const site = await api.site(client, {}, ADMIN)
  assert.deepEqual(await api.get(`/api/clients/${client.id}`, ADMIN), client)
  assert.deepEqual(await api.get('/api/sites', ADMIN), [site])
  assert.match(String(site.ingest_key), /^[\w-]{43}$/)
})
