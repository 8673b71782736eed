import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOM_BYTES, ROOM_BYTES_FOR_SMALL, ROOM_BYTES_PER_CLIENT, Room } from '../../src/ingest/room.ts'

const MB = 1_048_576

/** Takes a megabyte at a time until there is no more room, and says how many there were and who had none left. */
function fill(room: Room, clientId: string, isSmall = false) {
  for (let taken = 0; ; taken++) {
    const full = room.take(clientId, MB, isSmall)
    if (full !== undefined) return { taken, full }
  }
}

test('one client gets no more than its part of the room, and it comes back', () => {
  const room = new Room()
  const taken = ROOM_BYTES_PER_CLIENT / MB
  assert.deepEqual(fill(room, 'a'), { taken, full: 'client' })
  assert.equal(room.take('b', MB, false), undefined)
  room.give('a', 3 * MB)
  assert.deepEqual(fill(room, 'a'), { taken: 3, full: 'client' })
})

test('all clients together get no more than there is, and small bodies find some room still', () => {
  const room = new Room()
  const clients = ROOM_BYTES / ROOM_BYTES_PER_CLIENT
  for (let i = 0; i < clients; i++) fill(room, `client ${i}`)
  assert.deepEqual(fill(room, 'late'), { taken: 0, full: 'all' })
  assert.deepEqual(fill(room, 'small', true), { taken: ROOM_BYTES_FOR_SMALL / MB, full: 'client' })
  assert.deepEqual(fill(room, 'another small', true), { taken: 0, full: 'all' })
})

test('nothing is left of a request that has its answer', () => {
  const room = new Room()
  room.take('a', 10, true)
  room.take('a', 20, true)
  room.give('a', 30)
  assert.equal(room.bytes, 0)
})
