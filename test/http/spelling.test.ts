import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import type { HttpApp } from '../../src/http/index.ts'
import { Uuid } from '../../src/http/index.ts'
import { systemClock } from '../../src/lib/index.ts'
import { startTestService } from '../support/service.ts'
import { ID, openApp } from './support.ts'

/** Answers with what came through the validation. */
function echoRoutes(app: HttpApp): void {
  const note = Type.Object({ note: Type.Optional(Type.String()), ids: Type.Optional(Type.Array(Uuid)) })
  app.get(
    '/api/echo/:id',
    {
      schema: {
        params: Type.Object({ id: Uuid }),
        querystring: Type.Object({ flag: Type.Optional(Type.Boolean()), other: Type.Optional(Uuid) }),
      },
    },
    async ({ params, query }) => ({ params, query }),
  )
  app.post('/api/notes', { schema: { body: note } }, async ({ body }) => ({ body }))
  app.post('/api/names', { schema: { body: Type.Object({ name: Type.String() }) } }, async ({ body }) => ({ body }))
}

for (const [text, flag] of [
  ['1', true],
  ['true', true],
  ['TRUE', true],
  ['True', true],
  ['0', false],
  ['FALSE', false],
] as const) {
  test(`a flag may be spelt ${text}`, async (t) => {
    const app = await openApp(t, echoRoutes)
    assert.deepEqual((await app.inject(`/api/echo/${ID}?flag=${text}`)).json().query, { flag })
  })
}

for (const text of ['yes', '2', '', 'constructor', '__proto__']) {
  test(`a flag is not spelt ${JSON.stringify(text)}`, async (t) => {
    const app = await openApp(t, echoRoutes)
    assert.equal((await app.inject(`/api/echo/${ID}?flag=${text}`)).statusCode, 400)
  })
}

test('ids in capitals are the same ids, in paths, queries and bodies', async (t) => {
  const app = await openApp(t, echoRoutes)
  const upper = ID.toUpperCase()
  const read = await app.inject(`/api/echo/${upper}?other=${upper}`)
  assert.deepEqual(read.json(), { params: { id: ID }, query: { other: ID } })
  const written = await app.inject({ method: 'POST', url: '/api/notes', payload: { ids: [upper] } })
  assert.deepEqual(written.json().body, { ids: [ID] })
})

test('a call whose body has no field that is needed may come without one', async (t) => {
  const app = await openApp(t, echoRoutes)
  assert.deepEqual((await app.inject({ method: 'POST', url: '/api/notes' })).json(), { body: {} })
  assert.equal((await app.inject({ method: 'POST', url: '/api/names' })).statusCode, 400)
  const list = await app.inject({ method: 'POST', url: '/api/notes', payload: [] })
  assert.equal(list.statusCode, 400)
})

test('no call of the interface takes a query parameter that it does not know', async (t) => {
  const api = await startTestService(t, systemClock)
  const { paths } = (await api.call('GET', '/api/openapi.json')).json<{ paths: Record<string, object> }>()
  let calls = 0
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith('/api/') || path === '/api/ingest') continue
    const address = path.replace('{token}', 'x'.repeat(43)).replaceAll(/\{\w+\}/g, ID)
    for (const method of Object.keys(methods).filter((name) => name === 'get' || name === 'delete')) {
      const answer = await api.call(method.toUpperCase(), `${address}?surely_unknown=1`)
      assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`)
      assert.match(answer.text, /surely_unknown/, path)
      calls++
    }
  }
  assert.ok(calls > 25, `${calls} calls`)
})

test('metrics take no parameter either', async (t) => {
  const api = await startTestService(t, systemClock)
  assert.equal((await api.call('GET', '/metrics')).status, 200)
  const answer = await api.call('GET', '/metrics?site=1')
  assert.equal(answer.status, 400)
  assert.match(answer.text, /site/)
})

test('the interface itself takes flags and ids as they are spelt', async (t) => {
  const api = await startTestService(t, systemClock)
  const [client, off] = [await api.newClient(), await api.newClient({ name: 'Off', is_active: false })]
  const ids = async (query: string) =>
    (await api.call('GET', `/api/clients?${query}`)).json<{ id: string }[]>().map(({ id }) => id)
  for (const flag of ['1', 'true', 'TRUE']) assert.deepEqual(await ids(`active_only=${flag}`), [client.id], flag)
  for (const flag of ['0', 'false', 'FALSE']) assert.equal((await ids(`active_only=${flag}`)).length, 2, flag)

  const upper = client.id.toUpperCase()
  const site = await api.newSite({ id: upper })
  assert.equal(site.client_id, client.id)
  const found = await api.call('GET', `/api/sites?client_id=${upper}`)
  assert.deepEqual(
    found.json<{ id: string }[]>().map(({ id }) => id),
    [site.id],
  )
  assert.equal((await api.call('GET', `/api/sites/${site.id.toUpperCase()}`)).json<{ id: string }>().id, site.id)
  const patched = await api.call('PATCH', `/api/clients/${off.id.toUpperCase()}`, { name: 'Gone' })
  assert.equal(patched.json<{ id: string }>().id, off.id)
})
