import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendPayload } from '../../src/journal/append-payload.ts'
import { Group, joined, payloadOf } from '../../src/journal/group.ts'
import { addLog, appendDelta, Delta, encodeEntry, type Log, type Payload } from '../../src/journal/index.ts'
import { batch, event } from '../../testkit/payloads.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const LANE = 1

const batchOf = (number: number, tags: number, name = (tag: number) => `tag ${tag}`): Payload =>
  batch(NOW, {
    total_events: 10,
    event_counts: { purchase: 4, page_view: 6 },
    tag_metrics: Object.fromEntries(
      Array.from({ length: tags }, (_, tag) => [
        name(tag),
        { success: number, failure: tag % 3, count: number + (tag % 3), total_exec_ms: number * tag },
      ]),
    ),
  })

const repeat = (count: number, payloadOfOne: (number: number) => Payload): Payload[] =>
  Array.from({ length: count }, (_, number) => payloadOfOne(number))

/** Counted one by one. */
function counted(payloads: readonly Payload[]): Log {
  const delta = new Delta()
  for (const payload of payloads) {
    const log: Log = []
    appendPayload(log, 7, payload, NOW)
    addLog(delta, log)
  }
  return summed(delta)
}

function summed(delta: Delta): Log {
  const log: Log = []
  appendDelta(log, delta)
  return log
}

interface Written {
  sum: Log
  /** Numbers and texts in the row. */
  items: number
}

/** Counted as a commit writes them, and a fold reads them. */
function written(payloads: readonly Payload[], isLarge = (_number: number) => false, hasKeys = false): Written {
  const group = new Group()
  for (const [number, payload] of payloads.entries()) {
    const given = isLarge(number) ? encodeEntry(7, payload, NOW) : payload
    const idempotencyKey = hasKeys && number % 2 === 0 ? `key ${number}` : undefined
    group.add({ siteNo: 7, idempotencyKey, bytes: 1_000, settle: assert.fail }, given, LANE, NOW)
  }
  const claimed = group.claims.map((claim) => claim.submission.contents)
  const contents = joined([...group.lanes.values(), ...claimed]).get(LANE)
  assert.ok(contents !== undefined)
  const row = JSON.parse(payloadOf(contents)) as Log
  const delta = new Delta()
  addLog(delta, row)
  return { sum: summed(delta), items: row.length }
}

const sorted = (log: Log): string[] => log.map(String).sort()

test('requests that repeat what they name are added up before they are written', () => {
  const payloads = repeat(30, (number) => batchOf(number, 83))
  const { sum, items } = written(payloads)
  assert.deepEqual(sum, counted(payloads))
  assert.ok(items < 83 * 30, `${items} items`)
})

test('so many names that they lie in several logs are each counted once', () => {
  const payloads = repeat(40, (number) => batchOf(number, 300))
  const { sum, items } = written(payloads)
  assert.deepEqual(sum, counted(payloads))
  assert.ok(items > 40 * 300 * 9, `${items} items`)
})

test('one request of more names than a log has room for is whole, and so are those after it', () => {
  const payloads = [batchOf(1, 2_000, (tag) => `own ${tag}`), event(NOW), batchOf(2, 1_500), event(NOW)]
  assert.deepEqual(written(payloads).sum, counted(payloads))
})

test('what another thread has encoded, and what came with a key, stands beside the others', () => {
  const payloads = [...repeat(30, (number) => batchOf(number, 120)), ...repeat(30, () => event(NOW))]
  const expected = sorted(counted(payloads))
  // In another order: first what is written here, and last what has a key.
  assert.deepEqual(sorted(written(payloads, (number) => number % 3 === 0).sum), expected)
  assert.deepEqual(sorted(written(payloads, () => true).sum), expected)
  assert.deepEqual(sorted(written(payloads, (number) => number % 3 === 0, true).sum), expected)
})
