import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import type { HttpApp } from '../../src/http/index.ts'
import { SHARES } from '../../src/http/sharing.ts'
import { until } from '../support/api.ts'
import { openApp } from './support.ts'

const { perCaller } = SHARES.report

const connectionsOf = (server: Server): Promise<number> => promisify(server.getConnections.bind(server))()

/** Reports that last until they are let go. */
async function slowReports(t: TestContext) {
  const held: (() => void)[] = []
  let begun = 0
  const addRoutes = (app: HttpApp) => {
    const schema = {
      tags: ['Things'],
      summary: 'A report',
      description: 'For tests.',
      response: { 200: Type.Object({}) },
    }
    app.get('/api/report', { schema, config: { work: 'report' } }, async () => {
      begun++
      await new Promise<void>((resolve) => held.push(resolve))
      return {}
    })
  }
  const app = await openApp(t, addRoutes)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const ask = async () => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    socket.write('GET /api/report HTTP/1.1\r\nHost: tagwarden.example\r\n\r\n')
    return socket
  }
  const letGo = () => {
    for (const resolve of held.splice(0)) resolve()
  }
  return { server: app.server, ask, begun: () => begun, letGo }
}

test('a report holds its place until it has ended, also when its caller has hung up', async (t) => {
  const { server, ask, begun, letGo } = await slowReports(t)
  const sockets = await Promise.all(Array.from({ length: perCaller }, ask))
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
  const { ask, begun, letGo } = await slowReports(t)
  const sockets = await Promise.all(Array.from({ length: perCaller + 1 }, ask))
  await until('as many as may', () => (begun() === perCaller ? true : undefined))
  letGo()
  await until('the one that waited', () => (begun() === perCaller + 1 ? true : undefined))
  letGo()
  for (const socket of sockets) assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/)
})
