import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLookup } from '../../src/outbound/lookup.ts'

const [NAME_ERROR, SERVER_FAILURE] = [3, 2]

/** A DNS server that knows no name, fails for those that begin with `broken`, and leaves those unanswered that begin with `dead`. */
async function dnsServer(t: TestContext): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const name = query.toString('latin1', 13)
    if (name.startsWith('dead')) return
    const end = query.indexOf(0, 12) + 5
    const head = Buffer.from([
      0x81,
      0x80 + (name.startsWith('broken') ? SERVER_FAILURE : NAME_ERROR),
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
    ])
    socket.send(Buffer.concat([query.subarray(0, 2), head, query.subarray(12, end)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

test('names whose name servers do not answer take one thread of the system, once others were answered', async (t) => {
  const asked: string[] = []
  const blocked = Promise.withResolvers<void>()
  let isBlocking = false
  const resolve = async (host: string) => {
    // As the system's, it takes a turn of the event loop.
    await setImmediate()
    asked.push(host)
    if (isBlocking && host.startsWith('dead')) await blocked.promise
    return ['192.0.2.1']
  }
  const lookup = createLookup({ servers: [await dnsServer(t)], resolve, question: { timeout: 100, tries: 1 } })
  // Nothing is known of the servers yet: the system may know other ways.
  assert.deepEqual(await lookup('dead.example'), ['192.0.2.1'])
  // What the DNS does not know may be in a hosts file. The answer comes a moment after the system's.
  isBlocking = true
  const held: Promise<readonly string[]>[] = []
  for (let tries = 0; tries < 1_000; tries++) {
    await lookup('none.example')
    asked.length = 0
    held.push(lookup('dead.example'))
    while (asked.length === 0) await setImmediate()
    if ((await lookup('broken.example').catch(() => null)) === null) break
  }
  asked.length = 0
  for (const [host, code] of [
    ['dead.example', 'ETIMEOUT'],
    ['broken.example', 'ESERVFAIL'],
  ] as const) {
    await assert.rejects(lookup(host), { code })
  }
  assert.deepEqual(asked, [])
  await Promise.all(['none.example', 'localhost'].map(lookup))
  assert.deepEqual(asked.sort(), ['localhost', 'none.example'])
  blocked.resolve()
  await Promise.all(held)
  assert.deepEqual(await lookup('broken.example'), ['192.0.2.1'])
})
