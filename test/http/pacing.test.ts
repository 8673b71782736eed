import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { boundPipeline, enduring, Flooders, inTurn } from '../../src/http/index.ts'
import { SECOND } from '../../src/lib/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { listen } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const last = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`

/** Written, and not ended: Node drops what waits on a connection that its sender has ended. */
function sent(socket: Socket, bytes: string): Socket {
  socket.write(bytes)
  return socket
}

async function listening(t: TestContext, listener: RequestListener, flooders?: Flooders): Promise<() => Socket> {
  const server = createServer(listener)
  flooders?.keepOut(server)
  const port = await listen(server)
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
}

/** The turns of the event loop, numbered. */
function turns(t: TestContext): () => number {
  let turn = 0
  const next = (): void => {
    turn++
    timer = setImmediate(next)
  }
  let timer = setImmediate(next)
  t.after(() => clearImmediate(timer))
  return () => turn
}

const byHeader = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) => String(headers['x-from'])

test('however many connections ask at once, one request begins in a turn of the event loop', async (t) => {
  const turn = turns(t)
  const begun: number[] = []
  const open = await listening(
    t,
    inTurn((_request, response) => {
      begun.push(turn())
      response.end('answer')
    }, byHeader),
  )
  await Promise.all(Array.from({ length: 40 }, () => text(sent(open(), get('/a') + get('/b') + last('/c')))))
  assert.equal(begun.length, 120)
  assert.equal(new Set(begun).size, 120)
})

/** Requests that have all arrived before the second of them begins, as if by a turn of the loop that takes long. */
function together(listener: RequestListener, count: number): RequestListener {
  const arrived: Parameters<RequestListener>[] = []
  return (...exchange) => {
    arrived.push(exchange)
    if (arrived.length === count) for (const each of arrived) listener(...each)
  }
}

test('a caller with many connections goes ahead of another caller once, not with all of them', async (t) => {
  const order: string[] = []
  const paced = inTurn((request, response) => {
    order.push(byHeader(request))
    response.end()
  }, byHeader)
  const open = await listening(t, together(paced, 31))
  const from = (name: string) => `GET / HTTP/1.1\r\nHost: localhost\r\nX-From: ${name}\r\nConnection: close\r\n\r\n`
  const many = Array.from({ length: 30 }, () => sent(open(), from('many')))
  const one = sent(open(), from('one'))
  await Promise.all([...many, one].map((socket) => text(socket)))
  assert.equal(order.length, 31)
  assert.ok(order.indexOf('one') <= 2, order.join(' '))
})

test('a connection on which 33 requests wait is cut, and others are answered as ever', async (t) => {
  let begun = 0
  const open = await listening(
    t,
    inTurn((request, response) => {
      if (request.url === '/flood') begun++
      response.end('answer')
    }, byHeader),
  )
  const flood = open()
  flood.write(get('/flood').repeat(20_000))
  const other = text(sent(open(), last('/other')))
  await text(flood).catch(() => undefined)
  assert.match(await other, /^HTTP\/1\.1 200/)
  assert.ok(begun <= 1, `${begun} of a flood began`)
})

test('an address whose connection was cut gets no new one for a second', async (t) => {
  const clock = newClock()
  const flooders = new Flooders(clock)
  const open = await listening(
    t,
    inTurn(
      (_request, response) => response.end('answer'),
      byHeader,
      (socket) => flooders.cut(socket),
    ),
    flooders,
  )
  const ask = () => text(sent(open(), last('/a'))).catch(() => '')
  assert.match(await ask(), /^HTTP\/1\.1 200/)
  await text(sent(open(), get('/flood').repeat(20_000))).catch(() => undefined)
  assert.equal(await ask(), '')
  clock.advance(SECOND)
  assert.match(await ask(), /^HTTP\/1\.1 200/)
})

test('thirty-two requests may wait on a connection', async (t) => {
  const open = await listening(
    t,
    inTurn((_request, response) => response.end('answer'), byHeader),
  )
  const answers = await text(sent(open(), get('/a').repeat(32) + last('/a')))
  assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 33)
})

test('what watches over the service waits behind nothing else', async (t) => {
  const order: string[] = []
  const paced = inTurn((request, response) => {
    order.push(String(request.url))
    response.end()
  }, byHeader)
  const open = await listening(t, together(paced, 50))
  const paths = Array.from({ length: 50 }, (_, place) => (place < 49 ? '/report' : '/health'))
  await Promise.all(paths.map((path) => text(sent(open(), last(path)))))
  assert.equal(order.length, 50)
  assert.ok(order.indexOf('/health') <= 1, order.join(' '))
})

test('requests to ingest go side by side on a connection, up to 257 of them', async (t) => {
  let underWay = 0
  const finish: (() => void)[] = []
  const open = await listening(
    t,
    boundPipeline((_request, response) => {
      underWay++
      finish.push(() => response.end())
    }),
  )
  const polite = open()
  polite.write(get('/ingest').repeat(257))
  await until('all are under way', () => underWay === 257 || undefined)
  for (const end of finish.splice(0)) end()
  polite.write(last('/ingest'))
  await until('the next is under way', () => finish.length === 1 || undefined)
  finish.pop()?.()
  assert.equal((await text(polite)).match(/HTTP\/1\.1 200/g)?.length, 258)
  const flood = open()
  flood.write(get('/ingest').repeat(5_000))
  await text(flood).catch(() => undefined)
  assert.ok(underWay <= 258 + 257, `${underWay - 258} of a flood began`)
})

test('a request that makes its handler throw loses its connection, is reported, and ends nothing else', async (t) => {
  const reported: string[] = []
  const server = createServer(
    enduring(
      (request, response) => {
        if (request.url === '/bad') throw new Error('unforeseen')
        response.end('well')
      },
      ({ message }, what) => reported.push(`${what}: ${message}`),
    ),
  )
  const port = await listen(server)
  t.after(() => server.close())
  const url = `http://127.0.0.1:${port}`
  await assert.rejects(fetch(`${url}/bad`))
  assert.equal(await (await fetch(`${url}/good`)).text(), 'well')
  assert.deepEqual(reported, ['a request: unforeseen'])
})
