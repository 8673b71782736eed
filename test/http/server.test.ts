import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type ErrorBody, type HttpApp, inTurn, SERVER_LIMITS } from '../../src/http/index.ts'
import { ID, openApp, thingRoutes } from './support.ts'

async function listening(t: TestContext, app?: HttpApp): Promise<{ app: HttpApp; port: number }> {
  const opened = app ?? (await openApp(t))
  await opened.listen({ host: '127.0.0.1', port: 0 })
  return { app: opened, port: (opened.server.address() as AddressInfo).port }
}

/** What the server says to these bytes, until it closes the connection. */
async function exchange(port: number, bytes: string): Promise<{ status: number; body: ErrorBody }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}

const MALFORMED: [title: string, bytes: string, status: number][] = [
  ['bytes that are no HTTP', 'hello\r\n\r\n', 400],
  ['a request without a Host', 'GET /outside HTTP/1.1\r\n\r\n', 400],
  [
    'headers over the limit',
    `GET /outside HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(SERVER_LIMITS.maxHeaderSize)}\r\n\r\n`,
    431,
  ],
]
for (const [title, bytes, status] of MALFORMED) {
  test(`${title}: ${status}, and the connection is closed`, async (t) => {
    const { port } = await listening(t)
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    assert.match(await text(socket), new RegExp(`^HTTP/1.1 ${status} `))
  })
}

test('what is not even a request is answered in the shape of every other error', async (t) => {
  const { port } = await listening(t)
  const { status, body } = await exchange(port, 'hello\r\n\r\n')
  assert.equal(status, 400)
  assert.deepEqual(body, { error: 'invalid_request', message: 'The request is not valid HTTP', details: [] })
})

test('a broken request behind others is answered after them', async (t) => {
  const app = await openApp(t, (routes) => {
    routes.get('/later', async (_request, reply) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return reply.send('first')
    })
  })
  const { port } = await listening(t, app)
  const socket = connect(port, '127.0.0.1')
  const request = 'GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n'
  socket.write(`${request}${request}rubbish\r\n\r\n`)
  socket.write('and more of it')
  const answers = await text(socket)
  assert.deepEqual(answers.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '200', '400'])
})

test('a body that breaks off is answered, although its request is under way', async (t) => {
  const { port } = await listening(t)
  const head = `PUT /api/things/${ID} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const { status } = await exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nrubbish\r\n`)
  assert.equal(status, 400)
})

test('a body over the limit is refused from its announced length', async (t) => {
  const { port } = await listening(t)
  const head = `PUT /api/things/${ID} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n`
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head}\r\n{`)
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())))
  socket.destroy()
  assert.match(answer, /^HTTP\/1.1 413 /)
  assert.match(answer, /payload_too_large/)
})

test('a body over the limit is refused while it arrives, when nothing announced it', async (t) => {
  const { port } = await listening(t)
  const response = await fetch(`http://127.0.0.1:${port}/api/things/${ID}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: ReadableStream.from(['{"name":"', 'x'.repeat(700_000), 'x'.repeat(700_000), '"}']).pipeThrough(
      new TextEncoderStream(),
    ),
    duplex: 'half',
  })
  assert.equal(response.status, 413)
})

test('the server keeps no caller longer than the limits say', async (t) => {
  const { app } = await listening(t)
  const { maxHeaderSize: _size, connectionsCheckingInterval: _interval, ...times } = SERVER_LIMITS
  for (const [name, value] of Object.entries(times)) assert.equal(Reflect.get(app.server, name), value, name)
  assert.equal(app.server.timeout, 120_000)
})

test('a server factory can answer some requests itself and leave the others to the app', async (t) => {
  const app = await openApp(t, thingRoutes, {
    serverFactory: (handler) =>
      createServer(SERVER_LIMITS, (request, response) => {
        if (request.url === '/fast') response.end('fast')
        else handler(request, response)
      }),
  })
  const { port } = await listening(t, app)
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/fast`)).text(), 'fast')
  assert.equal((await fetch(`http://127.0.0.1:${port}/outside`)).status, 200)
})

test('requests that are sent without waiting are handled one after the other', async (t) => {
  let underWay = 0
  let most = 0
  const app = await openApp(
    t,
    (routes) => {
      routes.get('/slow', async (_request, reply) => {
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setTimeout(resolve, 5))
        underWay--
        return reply.send('answer')
      })
    },
    {
      serverFactory: (handler) =>
        createServer(
          SERVER_LIMITS,
          inTurn(handler, () => 'caller'),
        ),
    },
  )
  const { port } = await listening(t, app)
  const socket = connect(port, '127.0.0.1')
  const request = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n'
  socket.write(`${request}\r\n`.repeat(19))
  socket.write(`${request}Connection: close\r\n\r\n`)
  const answers = await text(socket)
  assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 20)
  assert.equal(most, 1)
})

test('a connection on which nothing was asked is ended without an answer', async (t) => {
  const limits = { ...SERVER_LIMITS, headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 }
  const app = await openApp(t, thingRoutes, { serverFactory: (handler) => createServer(limits, handler) })
  const { port } = await listening(t, app)
  const silent = connect(port, '127.0.0.1')
  assert.equal(await text(silent), '')
  const slow = connect(port, '127.0.0.1')
  slow.write('GET /outs')
  assert.match(await text(slow), /^HTTP\/1\.1 408 /)
})
