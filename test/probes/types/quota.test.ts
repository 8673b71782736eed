import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Quota, QuotaQueue } from '../../../src/probes/google/service-account.ts'

const WINDOWS = [
  { limit: 2, windowMs: 10 },
  { limit: 3, windowMs: 100 },
]

const CASES: readonly [what: string, taken: readonly number[], now: number, wait: number][] = [
  ['nothing was asked yet', [], 0, 0],
  ['one was asked', [0], 1, 0],
  ['the short window is full', [0, 4], 5, 5],
  ['the short window has moved on', [0, 4], 10, 0],
  ['the long window is full', [0, 20, 40], 60, 40],
  ['both windows are full', [80, 95, 97], 99, 81],
  ['the long window has moved on', [0, 20, 40], 100, 0],
]

for (const [what, taken, now, wait] of CASES) {
  test(`when ${what}, the next request waits ${wait} ms`, () => {
    const quota = new Quota(WINDOWS)
    for (const time of taken) quota.take(time)
    assert.equal(quota.waitMs(now), wait)
  })
}

test('a block holds everything up, and a shorter one does not end it', () => {
  const quota = new Quota(WINDOWS)
  quota.block(0, 50)
  quota.block(0, 10)
  assert.deepEqual([quota.waitMs(20), quota.waitMs(50)], [30, 0])
})

test("a client's requests get their turns in their order", async () => {
  const queue = new QuotaQueue([{ limit: 1, windowMs: 5 }])
  const order: number[] = []
  const { signal } = new AbortController()
  await Promise.all([1, 2, 3].map((n) => queue.turn('Acme', signal, 1_000).then(() => order.push(n))))
  assert.deepEqual(order, [1, 2, 3])
})

test('clients take turns, so one with many probes does not hold up the others', async () => {
  const queue = new QuotaQueue([{ limit: 1, windowMs: 5 }])
  const order: string[] = []
  const gone = new AbortController()
  const { signal } = new AbortController()
  const turnOf = (client: string) => queue.turn(client, signal, 1_000).then(() => order.push(client))
  const first = ['Acme', 'Acme', 'Acme'].map(turnOf)
  const left = assert.rejects(queue.turn('Busy', gone.signal, 1_000))
  const last = ['Busy', 'Calm', 'Calm'].map(turnOf)
  // Leaving the queue must not cost the client its turn.
  gone.abort()
  await Promise.all([...first, left, ...last])
  assert.deepEqual(order, ['Acme', 'Acme', 'Busy', 'Calm', 'Acme', 'Calm'])
})

test('a turn that cannot come in time is refused at once, one that is waited for when its run ends', async () => {
  const queue = new QuotaQueue([{ limit: 1, windowMs: 60_000 }])
  const run = new AbortController()
  await queue.turn('Acme', run.signal, 10)
  await assert.rejects(
    queue.turn('Acme', run.signal, 10),
    /quota is used up: 1 request waits, the next may be sent in \d+ s/,
  )
  const waiting = assert.rejects(queue.turn('Acme', run.signal, 100_000), { name: 'GoogleFailure', reason: 'quota' })
  const behind = assert.rejects(queue.turn('Acme', run.signal, 100_000), { name: 'GoogleFailure', reason: 'quota' })
  run.abort()
  await Promise.all([waiting, behind])
})

test('who gave up in the queue takes no turn from those behind', async () => {
  let now = 0
  const queue = new QuotaQueue([{ limit: 1, windowMs: 1_000 }], () => now)
  await queue.turn('Acme', new AbortController().signal, 10)
  const gone = new AbortController()
  const first = assert.rejects(queue.turn('Acme', gone.signal, 100_000))
  gone.abort()
  await first
  now = 1_000
  await queue.turn('Acme', new AbortController().signal, 0)
})
