import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { type HttpApp, Uuid } from '../../src/http/index.ts'
import { type ErrorDetail, systemClock } from '../../src/lib/index.ts'
import { startTestService } from '../../testkit/service.ts'
import { ID, openApp, refused } from './support.ts'

interface Example {
  title: string
  url?: string
  body: unknown
  details: ErrorDetail[]
}

const good = { name: 'x' }

const EXAMPLES: Example[] = [
  { title: 'a field missing', body: {}, details: [{ path: '/name', message: 'is required' }] },
  {
    title: 'an unknown field',
    body: { ...good, 'a/b~c': 1 },
    details: [{ path: '/a~1b~0c', message: 'is not a field that can be set here' }],
  },
  {
    title: 'an unknown query parameter',
    url: '?colour=red',
    body: good,
    details: [{ path: '/colour', message: 'is not a parameter of this call' }],
  },
  { title: 'a number as text', body: { name: 7 }, details: [{ path: '/name', message: 'must be text' }] },
  {
    title: 'text as a number',
    body: { ...good, size: '7' },
    details: [{ path: '/size', message: 'must be a whole number or null' }],
  },
  {
    title: 'a fraction as a whole number',
    body: { ...good, size: 2.5 },
    details: [{ path: '/size', message: 'must be a whole number or null' }],
  },
  {
    title: 'too small a number',
    body: { ...good, size: 1 },
    details: [{ path: '/size', message: 'must be at least 2' }],
  },
  {
    title: 'blank text',
    body: { name: ' \t' },
    details: [{ path: '/name', message: 'must be text that is not blank' }],
  },
  {
    title: 'too long a text',
    body: { name: '123456' },
    details: [{ path: '/name', message: 'must have at most 5 characters' }],
  },
  {
    title: 'a value that is not listed',
    body: { ...good, kind: 'c' },
    details: [{ path: '/kind', message: 'must be one of a, b' }],
  },
  {
    title: 'null for what cannot be empty',
    body: { name: null },
    details: [{ path: '/name', message: 'must be text' }],
  },
  {
    title: 'a malformed text',
    body: { ...good, email: 'nope' },
    details: [{ path: '/email', message: 'must be an e-mail address' }],
  },
  {
    title: 'a fault inside a list, and too long a list',
    body: { ...good, tags: ['', 'b'] },
    details: [
      { path: '/tags', message: 'must have at most 1 entry' },
      { path: '/tags/0', message: 'must have at least 1 character' },
    ],
  },
  {
    title: 'a NUL character',
    body: { ...good, tags: ['a\0b'] },
    details: [{ path: '/tags/0', message: 'must not contain NUL characters' }],
  },
  {
    title: 'half a character',
    body: { ...good, tags: ['a\ud83d'] },
    details: [{ path: '/tags/0', message: 'must not contain half a character' }],
  },
  {
    title: 'a NUL character in the query',
    url: '?flag=%00',
    body: good,
    details: [
      { path: '/flag', message: 'must be true or false' },
      { path: '/flag', message: 'must not contain NUL characters' },
    ],
  },
  {
    title: 'a query number out of its range',
    url: '?count=10',
    body: good,
    details: [{ path: '/count', message: 'must be at most 9' }],
  },
  {
    title: 'a query number beyond all numbers',
    url: '?count=1e400',
    body: good,
    details: [{ path: '/count', message: 'must be a finite number' }],
  },
  ...['0x5', '0b1', '%205%20', '5e0', '5.0'].map((text) => ({
    title: `a whole number in a query that is written as ${text}`,
    url: `?count=${text}`,
    body: good,
    details: [{ path: '/count', message: 'must be a whole number in digits' }],
  })),
  {
    title: 'a query parameter given twice',
    url: '?count=1&count=2',
    body: good,
    details: [{ path: '/count', message: 'takes one value, and is given more than once' }],
  },
  {
    title: 'a list as the body',
    body: [],
    details: [{ path: '', message: 'must have a JSON object as its body' }],
  },
  {
    title: 'no body',
    body: undefined,
    details: [{ path: '', message: 'must have a JSON object as its body' }],
  },
]

for (const { title, url = '', body, details } of EXAMPLES) {
  test(`${title} is refused with its place and reason`, async (t) => {
    const app = await openApp(t)
    const request = {
      method: 'PUT',
      url: `/api/things/${ID}${url}`,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    } as const
    const answer = await refused(app, request, 400, 'invalid_request')
    assert.deepEqual(answer.body.details, details)
    for (const { message } of details) assert.ok(answer.body.message.includes(message))
  })
}

test('every fault of a request is named at once', async (t) => {
  const app = await openApp(t)
  const payload = { kind: 'c', size: '1', colour: 'red' }
  const { body } = await refused(app, { method: 'PUT', url: `/api/things/${ID}`, payload }, 400, 'invalid_request')
  assert.deepEqual(body.details.map(({ path }) => path).sort(), ['/colour', '/kind', '/name', '/size'])
})

const DEEP = 400_000
const DEEP_TEXTS: [what: string, text: string][] = [
  ['lists', '['.repeat(DEEP) + ']'.repeat(DEEP)],
  ['objects', `${'{"a":'.repeat(DEEP / 4)}1${'}'.repeat(DEEP / 4)}`],
]
for (const [what, text] of DEEP_TEXTS) {
  test(`${what} nested deeper than any stack are a fault of the caller`, async (t) => {
    const app = await openApp(t)
    const headers = { 'content-type': 'application/json' }
    const payload = `{"name":"x","kind":${text}}`
    await refused(app, { method: 'PUT', url: `/api/things/${ID}`, headers, payload }, 400, 'invalid_request')
  })
}

test('a body of nothing but faults gets a short answer', async (t) => {
  const app = await openApp(t)
  const unknown = Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`k${index}`, 1]))
  const nuls = { name: 'x', tags: Array.from({ length: 80_000 }, () => '\0') }
  for (const payload of [unknown, nuls]) {
    const request = { method: 'PUT', url: `/api/things/${ID}`, payload } as const
    const { body } = await refused(app, request, 400, 'invalid_request')
    assert.ok(JSON.stringify(body).length < 10_000)
  }
})

test('what fits comes through as it was sent, with query values read as their types', async (t) => {
  const app = await openApp(t)
  const payload = { name: 'x', size: null, email: 'a@b.example', tags: ['t'] }
  const response = await app.inject({ method: 'PUT', url: `/api/things/${ID}?count=3&flag=false`, payload })
  assert.equal(response.statusCode, 200, response.body)
  assert.deepEqual(response.json(), { body: payload, query: { count: 3, flag: false } })
})

for (const id of ['nope', `${ID}0`, '%00', '%zz', 'x'.repeat(5_000)]) {
  test(`an address with the id ${id.slice(0, 40)} does not exist`, async (t) => {
    const app = await openApp(t)
    await refused(app, { method: 'PUT', url: `/api/things/${id}`, payload: good }, 404, 'not_found')
  })
}

/** Answers with what came through the validation. */
function echoRoutes(app: HttpApp): void {
  const config = { scope: 'anyone' } as const
  const note = Type.Object({ note: Type.Optional(Type.String()), ids: Type.Optional(Type.Array(Uuid)) })
  app.get(
    '/api/echo/:id',
    {
      config,
      schema: {
        params: Type.Object({ id: Uuid }),
        querystring: Type.Object({ flag: Type.Optional(Type.Boolean()), other: Type.Optional(Uuid) }),
      },
    },
    async ({ params, query }) => ({ params, query }),
  )
  app.post('/api/notes', { config, schema: { body: note } }, async ({ body }) => ({ body }))
  app.post('/api/names', { config, schema: { body: Type.Object({ name: Type.String() }) } }, async ({ body }) => ({
    body,
  }))
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

test('a fault is named shortly, however long names are and however deep they lie', async (t) => {
  const app = await openApp(t, echoRoutes)
  const unstorable = JSON.stringify(Array(20).fill('\0'))
  const bodies = [
    `{"x":${'{"a":'.repeat(10_000)}${unstorable}${'}'.repeat(10_000)}}`,
    `{"${'k'.repeat(100_000)}":${unstorable}}`,
  ]
  for (const payload of bodies) {
    const headers = { 'content-type': 'application/json' }
    const { body } = await refused(app, { method: 'POST', url: '/api/notes', headers, payload }, 400, 'invalid_request')
    assert.ok(body.details.length >= 20)
    for (const { path } of body.details) assert.ok(path.length <= 301, `${path.length}`)
    assert.match(body.details.at(-1)?.path ?? '', /^\/(x\/a\/a|kkk).*…$/)
  }
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

test('what one process compiles once for all its services tells schemas apart that differ in one bound or field', async (t) => {
  const withMost = (maximum: number, response: Record<string, unknown>) =>
    openApp(t, (app) => {
      const body = Type.Object({ size: Type.Integer({ maximum }) })
      const answers = { 200: Type.Object(Object.fromEntries(Object.keys(response).map((name) => [name, Type.Any()]))) }
      app.post('/sized', { schema: { body, response: answers } }, async () => ({ first: 1, second: 2 }))
    })
  const apps = [await withMost(5, { first: 1 }), await withMost(6, { second: 2 }), await withMost(5, { first: 1 })]
  const send = async (size: number) => {
    const answers = apps.map((app) => app.inject({ method: 'POST', url: '/sized', payload: { size } }))
    return (await Promise.all(answers)).map((answer) => [answer.statusCode, answer.json<{ message?: string }>()])
  }
  assert.deepEqual(await send(5), [
    [200, { first: 1 }],
    [200, { second: 2 }],
    [200, { first: 1 }],
  ])
  assert.deepEqual(
    (await send(6)).map(([status]) => status),
    [400, 200, 400],
  )
})
