import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchBody, eventBody } from '../../testkit/payloads.ts'
import { ingestRequest, KEY_LENGTH, packKeys, type RequestTemplate } from '../lib/request-template.ts'

const TIME = '1763636400000'
const KEY = 'a'.repeat(KEY_LENGTH)

function fill({ bytes, keyOffset, timeOffsets }: RequestTemplate): string {
  const filled = Buffer.from(bytes)
  filled.write(KEY, keyOffset)
  for (const offset of timeOffsets) filled.write(TIME, offset)
  return filled.toString()
}

test('key and time are written over their places and nothing else changes', () => {
  const [head = '', body = ''] = fill(ingestRequest(eventBody())).split('\r\n\r\n')
  assert.match(head, new RegExp(`^X-Service-Key: ${KEY}$`, 'm'))
  assert.equal(JSON.parse(body).timestamp_ms, Number(TIME))
  assert.match(head, new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'))
})

test('both ends of a batch get the time', () => {
  const [, body = ''] = fill(ingestRequest(batchBody())).split('\r\n\r\n')
  const { window_start_ms, window_end_ms } = JSON.parse(body)
  assert.deepEqual([window_start_ms, window_end_ms], [Number(TIME), Number(TIME)])
})

test('a declared length stands in the head although less follows', () => {
  assert.match(fill(ingestRequest('{}', { declaredLength: 2_000_000 })), /^Content-Length: 2000000\r$/m)
})

test('bodies weigh what they are said to', () => {
  assert.ok(Math.abs(eventBody().length - 935) < 30, `an event has ${eventBody().length} bytes`)
  assert.ok(Math.abs(batchBody().length - 10_000) < 500, `a batch has ${batchBody().length} bytes`)
})

test('a key of another length is refused', () => {
  assert.throws(() => packKeys([KEY, 'short']), /5 characters instead of 43/)
})
