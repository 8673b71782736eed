import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { RequestSlots, UnreadAnswers } from '../../src/http/request-slots.ts'

/** As much of a response as is looked at. */
class Response extends EventEmitter {
  closed = false
  destroyed = false
  stalledMs = 0
  readonly req = { socket: Object.assign(new EventEmitter(), { destroyed: false }) }
  onStalled = (): unknown => undefined

  setTimeout(ms: number, onStalled: () => unknown): void {
    this.stalledMs = ms
    this.onStalled = onStalled
  }

  destroy(): void {
    if (this.closed) return
    this.destroyed = true
    this.leave()
  }

  leave(): void {
    this.closed = true
    this.emit('close')
  }
}

const response = () => new Response() as unknown as ServerResponse & Response
const LIMITS = { total: 3, perCaller: 2, waiting: 2, patienceMs: 60_000 }
/** What has been decided by now. */
const settled = async <T>(promise: Promise<T>): Promise<T | 'waits'> =>
  Promise.race([promise, new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'))])

test('a caller has two slots, and what comes on top waits for one of them', async () => {
  const slots = new RequestSlots(LIMITS)
  const [first] = await Promise.all([slots.take('a', response()), slots.take('a', response())])
  const third = slots.take('a', response())
  assert.equal(await settled(third), 'waits')
  assert.notEqual(await settled(slots.take('b', response())), 'waits')
  first?.()
  assert.notEqual(await settled(third), 'waits')
})

test('a caller of whom many wait has one slot, with a pause after each answer, until fewer do', async () => {
  const slots = new RequestSlots({ ...LIMITS, flood: 2 })
  const [first, second] = await Promise.all([slots.take('a', response()), slots.take('a', response())])
  const waiting = [slots.take('a', response()), slots.take('a', response())]
  await setTimeout(5)
  first?.()
  second?.()
  assert.equal(await settled(Promise.race(waiting)), 'waits')
  assert.notEqual(await settled(slots.take('b', response())), 'waits')
  // One is left after the first, which is no flood.
  assert.equal((await Promise.all(waiting)).length, 2)
})

test('a slot that is given back twice is free once', async () => {
  const slots = new RequestSlots({ ...LIMITS, perCaller: 3 })
  const held = await Promise.all([1, 2, 3].map(() => slots.take('a', response())))
  held[0]?.()
  held[0]?.()
  assert.notEqual(await settled(slots.take('b', response())), 'waits')
  assert.equal(await settled(slots.take('b', response())), 'waits')
})

test('callers who wait get slots in turn', async () => {
  const slots = new RequestSlots({ ...LIMITS, total: 1, waiting: 9 })
  const order: string[] = []
  const release = await slots.take('a', response())
  const work = async (caller: string) => {
    const giveBack = await slots.take(caller, response())
    order.push(caller)
    giveBack?.()
  }
  const all = ['a', 'a', 'a', 'b', 'c'].map(work)
  release?.()
  await Promise.all(all)
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'a'])
})

test('a caller of whom enough wait is refused until later', async (t) => {
  // The others would lose their patience in the midst of another test.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slots = new RequestSlots(LIMITS)
  for (let n = 0; n < 4; n++) void slots.take('a', response())
  await assert.rejects(slots.take('a', response()), { code: 'rate_limited', retryAfterSeconds: 5 })
})

test('who has waited too long is refused until later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slots = new RequestSlots({ ...LIMITS, total: 1 })
  await slots.take('a', response())
  const late = slots.take('b', response())
  t.mock.timers.tick(LIMITS.patienceMs)
  await assert.rejects(late, { code: 'rate_limited' })
})

test('who goes away while waiting gets no slot, and the next one does', async () => {
  const slots = new RequestSlots({ ...LIMITS, total: 1 })
  const release = await slots.take('a', response())
  const gone = response()
  const [first, second] = [slots.take('b', gone), slots.take('b', response())]
  gone.leave()
  assert.equal(await first, null)
  release?.()
  assert.notEqual(await settled(second), 'waits')
})

const UNREAD = { counted: 10, perCaller: 100, total: 300, stalledMs: 5_000, longestMs: 60_000 }

test('nothing is begun for a caller who does not read, until it has', async () => {
  const unread = new UnreadAnswers(UNREAD, () => slots.fill())
  const slots: RequestSlots = new RequestSlots(LIMITS, (caller) => unread.hasRoomFor(caller))
  const answer = response()
  unread.add(answer, 'a', 100)
  const next = slots.take('a', response())
  assert.equal(await settled(next), 'waits')
  assert.notEqual(await settled(slots.take('b', response())), 'waits')
  answer.leave()
  assert.notEqual(await settled(next), 'waits')
})

test('an answer of which nothing is read is cut, and so is one that takes too long', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const unread = new UnreadAnswers(UNREAD, () => undefined)
  const [stalled, slow, small] = [response(), response(), response()]
  unread.add(stalled, 'a', 50)
  unread.add(slow, 'a', 50)
  unread.add(small, 'a', 9)
  assert.deepEqual([stalled.stalledMs, small.stalledMs], [5_000, 0])
  stalled.onStalled()
  assert.ok(stalled.destroyed)
  t.mock.timers.tick(60_000)
  assert.deepEqual([slow.destroyed, small.destroyed], [true, false])
  assert.ok(unread.hasRoomFor('a'))
})

test('above the bytes for all, the answer that is the longest under way is cut', () => {
  const unread = new UnreadAnswers(UNREAD, () => undefined)
  const answers = [1, 2, 3, 4].map(() => response())
  for (const [n, answer] of answers.entries()) unread.add(answer, `caller ${n}`, 100)
  assert.deepEqual(
    answers.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  )
  assert.ok(unread.hasRoomFor('caller 0'))
})

test('an answer that waits behind another of its connection goes with that connection', async () => {
  let reads = 0
  const unread = new UnreadAnswers(
    { counted: 10, perCaller: 100, total: 1_000, stalledMs: 1_000, longestMs: 1_000 },
    () => {
      reads += 1
    },
  )
  const slots = new RequestSlots({ ...LIMITS, total: 1 })
  const [behind, waiting] = [response(), response()]
  unread.add(behind, 'a', 100)
  assert.equal(unread.hasRoomFor('a'), false)
  await slots.take('b', response())
  const slot = slots.take('a', waiting)
  // Node notifies such a response of nothing: it never had the connection.
  for (const each of [behind, waiting]) {
    each.req.socket.destroyed = true
    each.req.socket.emit('close')
  }
  assert.equal(unread.hasRoomFor('a'), true)
  assert.equal(reads, 1)
  assert.equal(await settled(slot), null)
})
