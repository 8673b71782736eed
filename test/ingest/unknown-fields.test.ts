import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { knownFieldsOf } from '../../src/ingest/check.ts'
import { judgeBody } from '../../src/ingest/judge.ts'
import { appendPayload, type Log, type Payload } from '../../src/journal/index.ts'
import { payloads } from '../../testkit/random-payloads.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')
/** Objects whose keys are names that the sender chose: there is no unknown one. */
const NAMED = ['event_counts', 'tag_metrics', 'fields']
const STRANGE = { jane: 'jane@example.com', more: { address: ['1 High Street'] } }

/** The same with fields that nobody knows in every object that has a fixed shape. */
function strangely(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => strangely(item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, strangely(item, key)])
  const known: object = Object.fromEntries(entries)
  return NAMED.includes(name) ? known : { ...known, ...STRANGE }
}

function entryOf(payload: Payload): Log {
  const log: Log = []
  appendPayload(log, 1, payload, NOW)
  return log
}

test('fields that nobody knows are counted nowhere and kept in no sample', () => {
  fc.assert(
    fc.property(payloads(NOW - 60_000, NOW), (sent) => {
      for (const payload of sent) {
        const judged = judgeBody(JSON.stringify(strangely(payload)))
        assert.ok(judged.ok && judged.payload !== null)
        assert.deepEqual(entryOf(judged.payload), entryOf(payload))
        const kept = knownFieldsOf(judged.payload)
        assert.deepEqual(JSON.parse(JSON.stringify(kept)), JSON.parse(JSON.stringify(payload)))
      }
    }),
  )
})
