import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IngestAnswer } from '../../src/cli/post.ts'
import { answerLine, explainAnswer, summaryOf } from '../../src/cli/send.ts'

const TARGET = { endpoint: 'http://127.0.0.1/other', keyHeader: 'X-Service-Key', key: 'k' }
const answer = (status: number, over: Partial<IngestAnswer> = {}): IngestAnswer => ({
  status,
  body: status === 200 ? '{"status":"ok"}' : '{"error":"x"}',
  retryAfter: null,
  ms: 12.34,
  ...over,
})

test('a yes needs no explanation', () => {
  assert.equal(explainAnswer(answer(200), TARGET), null)
})

const EXPLANATIONS: readonly [answer: IngestAnswer, says: RegExp][] = [
  [answer(400), /payload is refused.*\/recent/],
  [answer(401), /no site has this key.*X-Service-Key/],
  [answer(403), /switched off.*revoked/],
  [answer(404), /no ingest at http:\/\/127\.0\.0\.1\/other/],
  [answer(413), /larger than 1 MB/],
  [answer(429, { retryAfter: '7' }), /wait 7 s/],
  [answer(500), /could not store it.*\/ready/],
  [answer(301), /not how Tagwarden answers/],
  [answer(200, { body: 'hello' }), /not how Tagwarden answers/],
]

for (const [given, says] of EXPLANATIONS) {
  test(`an answer ${given.status} ${given.body} is explained`, () => {
    assert.match(explainAnswer(given, TARGET) ?? '', says)
  })
}

test('a long body is cut and stays on one line', () => {
  const line = answerLine(answer(200, { body: `a\nb${'c'.repeat(500)}` }))
  assert.match(line, /^200 a bc+… 12 ms$/)
  assert.ok(line.length < 250)
})

test('the summary counts answers by what they were', () => {
  const answers = [answer(200, { ms: 1 }), answer(429, { ms: 30 }), answer(200, { ms: 2.34 }), answer(429, { ms: 4 })]
  assert.equal(
    summaryOf(answers, 9),
    '4 of 9 answered, 2 accepted, 2 refused with 429; fastest 1.0 ms, median 4.0 ms, slowest 30 ms',
  )
})
