import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerStatus } from '../lib/answer.ts'

const ANSWER = 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\ncontent-length: 4\r\n\r\nbody'

test('the status is known only when the answer is whole', () => {
  for (let length = 0; length < ANSWER.length; length++) {
    assert.equal(answerStatus(Buffer.from(ANSWER.slice(0, length))), null)
  }
  assert.equal(answerStatus(Buffer.from(ANSWER)), 429)
})

test('bytes after the answer are a fault of the server', () => {
  assert.throws(() => answerStatus(Buffer.from(`${ANSWER}!`)), /1 bytes too many/)
})

test('an answer without a length is refused', () => {
  assert.throws(() => answerStatus(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /not an answer with a length/)
})
