import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { BodyBudget } from '../../src/outbound/body.ts'
import { createOutbound, parseOutboundAllow } from '../../src/outbound/index.ts'
import { until } from '../../testkit/until.ts'
import { failureOf, httpServer } from './support.ts'

const LARGE = 900_000
const BUDGET = 1_000_000

const never = new AbortController().signal
/** What has been decided by now. */
const settled = <T>(promise: Promise<T>): Promise<T | 'waits'> =>
  Promise.race([promise, new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'))])

test('bodies together cannot exceed the budget, and waiting ones are served in order', async () => {
  const budget = new BodyBudget(10)
  const first = await budget.take(6, never)
  const second = budget.take(6, never)
  const third = budget.take(4, never)
  assert.deepEqual([await settled(second), await settled(third)], ['waits', 'waits'])
  first()
  const [giveBack] = await Promise.all([second, third])
  const all = budget.take(99, never)
  giveBack()
  assert.equal(await settled(all), 'waits')
  ;(await third)()
  assert.notEqual(await settled(all), 'waits')
})

test('a body that gives up waiting blocks no other, and keeps no bytes', async () => {
  const budget = new BodyBudget(10)
  const first = await budget.take(4, never)
  const late = new AbortController()
  const waiting = budget.take(10, late.signal)
  const behind = budget.take(6, never)
  late.abort(new Error('too late'))
  await assert.rejects(waiting, /too late/)
  ;(await behind)()
  first()
  assert.notEqual(await settled(budget.take(10, never)), 'waits')
})

const outboundWith = (bodiesBytes: number) =>
  createOutbound({ allow: parseOutboundAllow('127.0.0.1'), userAgent: 'test', clock: systemClock, bodiesBytes })

test('large answers that come together are all read, one after the other', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end('x'.repeat(LARGE)))
  const outbound = outboundWith(BUDGET)
  const limits = { totalMs: 60_000, bodyBytes: BUDGET }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => outbound.request(`http://127.0.0.1:${port}/`, { limits })),
  )
  for (const { body, isTruncated } of answers) assert.deepEqual([body.length, isTruncated], [LARGE, false])
})

test('a host that holds its bytes and sends no more does not delay small answers, and large ones until its time is up', async (t) => {
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  const { port } = await httpServer(t, (request, response) => {
    if (request.url === '/small') response.end('x'.repeat(10_000))
    else if (request.url === '/large') response.end('x'.repeat(LARGE))
    else {
      response.write('x'.repeat(LARGE / 2))
      void goesOn.then(() => response.end())
    }
  })
  const outbound = outboundWith(BUDGET)
  const ask = (path: string, totalMs: number) =>
    outbound.request(`http://127.0.0.1:${port}${path}`, { limits: { totalMs, bodyBytes: BUDGET } })
  const slow = ask('/slow', 60_000)
  const failure = await until('a large answer waits', () =>
    failureOf(ask('/large', 300)).catch((thrown: unknown) => {
      // The slow one has no room yet.
      if (thrown instanceof Error && thrown.message.startsWith('was answered')) return undefined
      throw thrown
    }),
  )
  assert.deepEqual([failure.kind, failure.phase], ['interrupted', 'body'])
  assert.match(failure.message, /^this server had no room for the answer of 127\.0\.0\.1 within 300 ms: /)
  assert.equal((await ask('/small', 60_000)).body.length, 10_000)
  const large = ask('/large', 60_000)
  goOn()
  assert.equal((await slow).body.length, LARGE / 2)
  assert.equal((await large).body.length, LARGE)
})
