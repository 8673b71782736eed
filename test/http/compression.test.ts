import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { etagOf, matchesEtag } from '../../src/http/index.ts'
import { openApp } from './support.ts'

const LONG = { rows: Array.from({ length: 500 }, (_, n) => ({ n, name: `row ${n}` })) }

async function appWithAnswers(t: Parameters<typeof openApp>[0]) {
  return openApp(t, (app) => {
    app.get('/long', async (_request, reply) => reply.header('etag', '"v1"').send(LONG))
    app.get('/short', async () => ({ rows: [] }))
    app.get('/image', async (_request, reply) => reply.type('image/png').send(Buffer.alloc(5_000)))
    app.get('/packed', async (_request, reply) =>
      reply.type('application/json').header('content-encoding', 'br').send(Buffer.alloc(5_000)),
    )
  })
}

test('long JSON is compressed for those who read gzip, with its length and a weak validator', async (t) => {
  const app = await appWithAnswers(t)
  const { headers, rawPayload } = await app.inject({ url: '/long', headers: { 'accept-encoding': 'gzip, br' } })
  assert.equal(headers['content-encoding'], 'gzip')
  assert.equal(headers.vary, 'accept-encoding')
  assert.equal(headers['content-length'], String(rawPayload.length))
  assert.equal(headers.etag, 'W/"v1"')
  assert.deepEqual(JSON.parse(gunzipSync(rawPayload).toString()), LONG)
  assert.ok(rawPayload.length * 3 < JSON.stringify(LONG).length)
})

for (const accept of [undefined, 'identity', 'br', 'gzip;q=0', `gzip,${'x'.repeat(300)}`, ',,;;=', 'zstd']) {
  test(`with Accept-Encoding ${JSON.stringify(accept)?.slice(0, 30)} it goes out as it is`, async (t) => {
    const app = await appWithAnswers(t)
    const answer = await app.inject({
      url: '/long',
      headers: accept === undefined ? {} : { 'accept-encoding': accept },
    })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(answer.headers.etag, '"v1"')
    assert.equal(answer.headers.vary, 'accept-encoding')
    assert.deepEqual(answer.json(), LONG)
  })
}

test('what is short, an image or compressed already is left alone', async (t) => {
  const app = await appWithAnswers(t)
  for (const [url, encoding] of [
    ['/short', undefined],
    ['/image', undefined],
    ['/packed', 'br'],
  ] as const) {
    const { headers } = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    assert.equal(headers['content-encoding'], encoding, url)
  }
})

test('the OpenAPI document is written once, and sent in the smallest form that the caller reads', async (t) => {
  const app = await openApp(t)
  await app.ready()
  const write = app.swagger
  let written = 0
  app.swagger = ((...args: []) => {
    written++
    return write(...args)
  }) as typeof write
  const ask = (encoding: string) => app.inject({ url: '/api/openapi.json', headers: { 'accept-encoding': encoding } })
  const plain = await ask('identity')
  const [br, gzip] = [await ask('gzip, br'), await ask('gzip')]
  assert.equal(brotliDecompressSync(br.rawPayload).toString(), plain.body)
  assert.equal(gunzipSync(gzip.rawPayload).toString(), plain.body)
  assert.equal(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size, 3)
  assert.equal(written, 1)
})

for (const url of ['/api/openapi.json', '/api/docs/static/swagger-ui-bundle.js', '/api/docs/json']) {
  test(`${url} comes compressed from memory, and not again to who has it`, async (t) => {
    const app = await openApp(t)
    const first = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    assert.equal(first.headers['content-encoding'], 'br')
    assert.match(String(first.headers['content-type']), /^(?:application\/json|text\/javascript)/)
    const again = await app.inject({
      url,
      headers: { 'accept-encoding': 'gzip, deflate, br', 'if-none-match': String(first.headers.etag) },
    })
    assert.deepEqual([again.statusCode, again.body], [304, ''])
  })
}

test('the documentation has no file but its own', async (t) => {
  const app = await openApp(t)
  for (const name of ['nothing.js', '..%2fpackage.json', '../package.json', '.%2e/package.json', 'csp', 'a/b.js', '']) {
    assert.equal((await app.inject(`/api/docs/static/${name}`)).statusCode, 404, name)
  }
})

test('a validator follows the content', () => {
  assert.equal(etagOf({ a: [1] }), etagOf({ a: [1] }))
  assert.notEqual(etagOf({ a: [1] }), etagOf({ a: [2] }))
  assert.match(etagOf({}), /^"[\w-]+"$/)
})

const cases: readonly [header: string | undefined, matches: boolean][] = [
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" ', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
  ['', false],
]
for (const [header, matches] of cases) {
  test(`If-None-Match: ${header} ${matches ? 'names' : 'does not name'} "a"`, () => {
    assert.equal(matchesEtag(header, '"a"'), matches)
  })
}
