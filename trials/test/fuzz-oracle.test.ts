import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { faultOf } from '../fuzz/oracle.ts'
import { shortened } from '../fuzz/shorten.ts'
import { allAnswers, type HttpAnswer, MalformedAnswer } from '../fuzz/wire/answers.ts'

const ASKED = Buffer.from('GET /api/clients HTTP/1.1\r\n\r\n')

const answered = (status: number, body: string, type = 'application/json'): HttpAnswer => ({
  status,
  head: `HTTP/1.1 ${status} X\r\nContent-Type: ${type}`,
  body: Buffer.from(body),
  isLast: false,
  isEndless: false,
})
const error = (code: string, message = 'no') => JSON.stringify({ error: code, message, details: [] })

const ACCEPTED: [what: string, answer: HttpAnswer, isIngest: boolean | null][] = [
  ['a success', answered(200, 'anything'), null],
  ['an error of the interface', answered(404, error('not_found')), null],
  ['an error of ingest', answered(400, '{"error":"invalid_payload"}'), true],
]
for (const [what, answer, isIngest] of ACCEPTED) {
  test(`${what} is as it should be`, () => assert.equal(faultOf(answer, ASKED, false, isIngest), null))
}

const FAULTS: [what: string, answer: HttpAnswer, isIngest: boolean | null, expected: RegExp][] = [
  ['a failure', answered(500, error('internal_error')), null, /answered 500/],
  ['an overload that is not documented', answered(503, error('unavailable')), null, /answered 503/],
  ['a page for an error', answered(400, '<h1>Bad Request</h1>'), null, /not JSON/],
  ['a stack trace', answered(400, error('invalid_request', 'x\n    at f (a.ts:1:2)')), null, /insides/],
  ['the text of a parser', answered(400, error('invalid_request', 'SyntaxError: Unexpected')), null, /insides/],
  ['more fields than ingest has', answered(400, error('invalid_payload')), true, /another interface/],
  ['a code of another status', answered(404, error('conflict')), null, /with the code conflict/],
  ['an error without a code', answered(400, '{}'), null, /without an error code/],
]
for (const [what, answer, isIngest, expected] of FAULTS) {
  test(`${what} is a fault`, () => assert.match(faultOf(answer, ASKED, false, isIngest) ?? '', expected))
}

test('an answer inside of another is a fault', () => {
  const first = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'
  const second = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'
  assert.throws(() => allAnswers(Buffer.from(first + second), false, false), MalformedAnswer)
  assert.equal(allAnswers(Buffer.from(`${first}0\r\n\r\n${second}`), false, false).length, 2)
})

const COMPRESSIONS: [encoding: string, compress: (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
]
for (const [encoding, compress] of COMPRESSIONS) {
  test(`an answer in ${encoding} is judged by what it says, and is a fault when it is no ${encoding}`, () => {
    const bytes = (body: Buffer) => {
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`
      return Buffer.concat([Buffer.from(head), body])
    }
    const [answer] = allAnswers(bytes(compress(error('invalid_request'))), false, false)
    assert.ok(answer)
    assert.equal(faultOf(answer, ASKED, false, null), null)
    assert.throws(() => allAnswers(bytes(Buffer.from('not compressed')), false, false), MalformedAnswer)
  })
}

test('what makes a request fail is found among what does not', async () => {
  const bytes = Buffer.from(`POST / HTTP/1.1\r\nContent-Length: 200\r\n\r\n${'a'.repeat(120)}EVIL${'b'.repeat(76)}`)
  const found = await shortened(bytes, async (candidate) => candidate.includes('EVIL'))
  assert.ok(found.length < bytes.length / 4)
  assert.ok(found.includes('EVIL'))
})
