import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { failureOf, httpServer, testOutbound } from './support.ts'

async function answered(
  t: TestContext,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
  request: { method?: 'GET' | 'HEAD'; bodyBytes?: number; status?: number } = {},
) {
  const { port } = await httpServer(t, (_request, response) => {
    response.writeHead(request.status ?? 200, headers).end(body)
  })
  return await testOutbound().request(`http://here.example:${port}/`, {
    method: request.method ?? 'GET',
    limits: request.bodyBytes === undefined ? {} : { bodyBytes: request.bodyBytes },
  })
}

const TEXT = 'Grüße, 世界! '.repeat(500)
const COMPRESSED: readonly [encoding: string, body: Buffer][] = [
  ['gzip', gzipSync(TEXT)],
  ['X-GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
  ['gzip, gzip', gzipSync(gzipSync(TEXT))],
  ['deflate , Br,identity', brotliCompressSync(deflateSync(TEXT))],
  ['identity', Buffer.from(TEXT)],
  ['utf-8', Buffer.from(TEXT)],
]
for (const [encoding, body] of COMPRESSED) {
  test(`a body is text whatever it came as: ${encoding}`, async (t) => {
    const answer = await answered(t, body, { 'content-encoding': encoding })
    assert.equal(answer.body, TEXT)
    assert.equal(answer.isTruncated, false)
  })
}

const CUT: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(TEXT).subarray(0, 50),
  br: brotliCompressSync(TEXT).subarray(0, 20),
  zstd: zstdCompressSync(TEXT).subarray(0, 30),
  'zstd, gzip': gzipSync(zstdCompressSync(TEXT)).subarray(0, 30),
  'gzip, gzip': gzipSync(gzipSync(TEXT).subarray(0, 50)),
}
for (const [encoding, cut] of Object.entries(CUT)) {
  test(`an empty body is none, although it is said to be ${encoding}`, async (t) => {
    for (const request of [{}, { method: 'HEAD' }, { status: 204 }, { status: 304 }] as const) {
      const answer = await answered(t, '', { 'content-encoding': encoding }, request)
      assert.deepEqual([answer.body, answer.isTruncated], ['', false])
    }
  })
  test(`a body that is not ${encoding} as it says is an error, and so is one that ends too soon`, async (t) => {
    for (const body of ['plain text', cut]) {
      const failure = await failureOf(answered(t, body, { 'content-encoding': encoding }))
      assert.deepEqual([failure.kind, failure.phase], ['protocol', 'body'])
      assert.equal(failure.message, 'the answer of here.example is not compressed as it says')
    }
  })
}

test('a body is cut where the limit is, and says so', async (t) => {
  const limit = (bodyBytes: number) => answered(t, '0123456789', {}, { bodyBytes })
  const results = await Promise.all([limit(9), limit(10), limit(11), limit(0)])
  assert.deepEqual(
    results.map(({ body, isTruncated }) => [body, isTruncated]),
    [
      ['012345678', true],
      ['0123456789', false],
      ['0123456789', false],
      ['', true],
    ],
  )
})

test('a character that the limit cuts in two is left out', async (t) => {
  const { body, isTruncated } = await answered(t, 'aä', {}, { bodyBytes: 2 })
  assert.deepEqual([body, isTruncated], ['a', true])
})

const CHARSETS: readonly [contentType: string, body: Buffer, text: string][] = [
  ['text/html; charset=ISO-8859-1', Buffer.from('ä', 'latin1'), 'ä'],
  ['text/html;charset="windows-1252"', Buffer.from([0x80]), '€'],
  ['text/html; charset=no-such-set', Buffer.from('ä'), 'ä'],
  ['text/html', Buffer.from('ä'), 'ä'],
  ['text/html', Buffer.from([0xff]), '\ufffd'],
  ['text/html; charset=utf-8', Buffer.from('\ufeffä', 'utf16le'), 'ä'],
  ['text/html', Buffer.from('\ufeffä', 'utf16le').swap16(), 'ä'],
]
for (const [contentType, body, text] of CHARSETS) {
  test(`a body is read in its character set: ${contentType}, ${body.toString('hex')}`, async (t) => {
    assert.equal((await answered(t, body, { 'content-type': contentType })).body, text)
  })
}

test('reading stops at the limit of a body that never ends, and the connection is closed', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { port } = await httpServer(t, (_request, response) => {
    const write = (): void => {
      while (response.write('x'.repeat(10_000)));
    }
    response.on('drain', write).on('close', resolve)
    write()
  })
  const answer = await testOutbound().request(`http://here.example:${port}/`, { limits: { bodyBytes: 100_000 } })
  assert.deepEqual([answer.body.length, answer.isTruncated], [100_000, true])
  await closed
})

test('a body that would become huge by decompression is not decompressed beyond the limit', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let fed = 0
  const { port } = await httpServer(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    const zeros = Buffer.alloc(1_000_000)
    const gzip = createGzip({ level: 1 })
    gzip.pipe(response)
    const feed = (): void => {
      // A gigabyte at most, which compressed is some megabytes.
      while (fed < 1_000_000_000 && !response.destroyed) {
        fed += zeros.length
        if (!gzip.write(zeros)) return
      }
      gzip.end()
    }
    gzip.on('drain', feed)
    response.on('close', () => {
      gzip.destroy()
      resolve()
    })
    feed()
  })
  const limits = { bodyBytes: 10_000 }
  const answer = await testOutbound().request(`http://here.example:${port}/`, { limits })
  assert.deepEqual([answer.body, answer.isTruncated], ['\0'.repeat(10_000), true])
  await closed
  assert.ok(fed < 1_000_000_000)
})
