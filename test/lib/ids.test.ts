import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid, newId, newOrderedId, newSecret } from '../../src/lib/index.ts'

test('an ingest key is 32 bytes as URL-safe text, another one each time', () => {
  const keys = Array.from({ length: 1_000 }, newSecret)
  for (const key of keys) {
    assert.match(key, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(Buffer.from(key, 'base64url').length, 32)
  }
  assert.equal(new Set(keys).size, keys.length)
})

test('ids are UUIDs, in whatever case they come back', () => {
  const id = newId()
  assert.ok(isUuid(id))
  assert.ok(isUuid(id.toUpperCase()))
  for (const other of ['', id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, id.replaceAll('-', ''), id.replace(/^./, 'g')]) {
    assert.ok(!isUuid(other), JSON.stringify(other))
  }
})

test('ids of one moment stand in their order, also where ids of other moments are made in between', () => {
  const now = Date.parse('2026-11-20T03:00:00Z')
  const ids = Array.from({ length: 50 }, (_, n) => {
    newOrderedId(now - n)
    return newOrderedId(now)
  })
  assert.deepEqual(ids.toSorted(), ids)
})
