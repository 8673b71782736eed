import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { HttpApp } from '../../src/http/index.ts'
import { until } from '../../testkit/until.ts'
import { openApp } from './support.ts'

/** Written out, here and below: a change of how much callers share has to change a test, too. */
const perCaller = 2

const connectionsOf = (server: Server): Promise<number> => promisify(server.getConnections.bind(server))()

/** Reports, or requests of another kind, that last until they are let go. */
async function slowWork(
  t: TestContext,
  work: 'report' | 'usual' | 'password' | 'provider' = 'report',
  begin: (request: FastifyRequest) => void = () => {},
) {
  const held: (() => void)[] = []
  let begun = 0
  let isOver = false
  const letGo = () => {
    for (const resolve of held.splice(0)) resolve()
  }
  const addRoutes = (app: HttpApp) => {
    const schema = {
      tags: ['Things'],
      summary: 'A report',
      description: 'For tests.',
      response: { 200: Type.Object({}) },
    }
    app.get('/api/report', { schema, config: { work, scope: 'anyone' } }, async (request) => {
      begin(request)
      begun++
      if (!isOver) await new Promise<void>((resolve) => held.push(resolve))
      return {}
    })
  }
  // Before the app ends, which waits for them, and for those that begin as they end.
  t.after(() => {
    isOver = true
    letGo()
  })
  const app = await openApp(t, addRoutes)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  /** @param caller an address of this machine to come from */
  const ask = async (caller = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: caller })
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    socket.write('GET /api/report HTTP/1.1\r\nHost: tagwarden.example\r\n\r\n')
    return socket
  }
  return { server: app.server, ask, begun: () => begun, letGo }
}

test('a report holds its slot until it has ended, also when its caller has hung up', async (t) => {
  const { server, ask, begun, letGo } = await slowWork(t)
  const sockets = await Promise.all(Array.from({ length: perCaller }, () => ask()))
  await until('as many as may', () => (begun() === perCaller ? true : undefined))
  for (const socket of sockets) socket.destroy()
  await until('the server has seen them go', () =>
    connectionsOf(server).then((left) => (left === 0 ? true : undefined)),
  )

  const arrived = once(server, 'request')
  const next = await ask()
  await arrived
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  assert.equal(begun(), perCaller)
  letGo()
  await until('the one that waited', () => (begun() === perCaller + 1 ? true : undefined))
  letGo()
  assert.match(String((await once(next, 'data'))[0]), /^HTTP\/1.1 200/)
})

test('a report is worked on for the next caller when one has ended', async (t) => {
  const { ask, begun, letGo } = await slowWork(t)
  const sockets = await Promise.all(Array.from({ length: perCaller + 1 }, () => ask()))
  await until('as many as may', () => (begun() === perCaller ? true : undefined))
  letGo()
  await until('the one that waited', () => (begun() === perCaller + 1 ? true : undefined))
  letGo()
  for (const socket of sockets) assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/)
})

test('a request that only waits before it answers lets others have its slot', async (t) => {
  const { ask, begun, letGo } = await slowWork(t, 'report', (request) => request.giveBackSlot())
  const sockets = await Promise.all(Array.from({ length: perCaller + 2 }, () => ask()))
  await until('all are worked on', () => (begun() === perCaller + 2 ? true : undefined))
  letGo()
  for (const socket of sockets) assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/)
})

for (const { work, total, each } of [
  { work: 'usual', total: 8, each: 6 },
  { work: 'report', total: 3, each: 2 },
  { work: 'password', total: 4, each: 2 },
  { work: 'provider', total: 8, each: 4 },
] as const) {
  test(`of ${work} requests ${total} are worked on at once, ${each} of them for one caller`, async (t) => {
    const { server, ask, begun, letGo } = await slowWork(t, work)
    /** Asks, and waits until the server has seen all of it and begun what it may. */
    const askMany = async (count: number, caller: string) => {
      let arrived = 0
      const countIt = () => void arrived++
      server.on('request', countIt)
      await Promise.all(Array.from({ length: count }, () => ask(caller)))
      await until('all have arrived', () => (arrived === count ? true : undefined))
      server.off('request', countIt)
      for (let turn = 0; turn < 50; turn++) await setImmediate()
    }
    await askMany(total + 4, '127.0.0.1')
    assert.equal(begun(), each)
    // The slots that are left are for others, until all are taken.
    await askMany(total, '127.0.1.1')
    assert.equal(begun(), total)
    await askMany(1, '127.0.2.1')
    assert.equal(begun(), total)
    letGo()
    await until('as many again', () => (begun() >= 2 * total ? true : undefined))
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    assert.equal(begun(), 2 * total)
  })
}
