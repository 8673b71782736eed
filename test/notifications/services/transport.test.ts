import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createChatTransport, requestUrl } from '../../../src/notifications/services/transport.ts'
import type { SendOrder } from '../../../src/notifications/transport.ts'
import { httpServer, tcpServer, testOutbound } from '../../outbound/support.ts'
import { documentedCheck, documentedExample } from './documented.ts'
import { AT, CHANNEL, KEY, opened, PUBLIC_URL } from './samples.ts'

interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver that keeps what it gets. */
async function receiver(t: TestContext, answer: (response: ServerResponse) => void) {
  const received: Received[] = []
  const { port } = await httpServer(t, (request, response) => {
    void text(request).then((body) => {
      received.push({ url: request.url ?? '', headers: request.headers, body })
      answer(response)
    })
  })
  return { received, address: `http://here.example:${port}/hooks/secret` }
}

const orderTo = (address: string): SendOrder => ({
  address,
  message: opened,
  idempotencyKey: KEY,
  channel: CHANNEL,
  publicUrl: PUBLIC_URL,
  at: AT,
})

const never = () => new AbortController().signal

test('a webhook gets JSON with an idempotency key and a signature that a receiver can check', async (t) => {
  const secret = 'a secret of both'
  const { received, address } = await receiver(t, (response) => response.end())
  const transport = createChatTransport({ outbound: testOutbound(), webhookSecret: secret })
  deepEqual(await transport.send(orderTo(address), never()), { kind: 'delivered' })
  const [{ headers, body, url } = { headers: {}, body: '', url: '' }] = received
  equal(url, '/hooks/secret')
  equal(headers['content-type'], 'application/json; charset=utf-8')
  equal(headers['idempotency-key'], KEY)
  equal((JSON.parse(body) as { idempotency_key: string }).idempotency_key, KEY)
  const isFromTagwarden = await documentedCheck()
  const now = AT / 1_000
  ok(isFromTagwarden(secret, headers, body, now))
  ok(!isFromTagwarden('another secret', headers, body, now))
  ok(!isFromTagwarden(secret, headers, body.replace('critical', 'harmless'), now))
  ok(!isFromTagwarden(secret, headers, body, now + 600))
  ok(!isFromTagwarden(secret, {}, body, now))
  const calls = [
    [secret, headers, body, now],
    ['another secret', headers, body, now],
    [secret, headers, body.replace('critical', 'harmless'), now],
    [secret, headers, body, now + 600],
    [secret, {}, body, now],
  ]
  const judged = await inPython(calls)
  // A machine without Python cannot run this example.
  if (judged !== null) deepEqual(judged, [true, false, false, false, false])
})

/** What the check in Python answers to each of the calls, run as docs/alerts.md shows it; null without Python. */
async function inPython(calls: readonly unknown[][]): Promise<unknown> {
  const program = `${documentedExample('py')}
import json, sys
print(json.dumps([is_from_tagwarden(s, h, b.encode(), n) for s, h, b, n in json.load(sys.stdin)]))`
  const python = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const started = once(python, 'spawn').then(
    () => true,
    () => false,
  )
  if (!(await started)) return null
  python.stdin.end(JSON.stringify(calls))
  return JSON.parse(await text(python.stdout))
}

const SERVICES = [
  ['hooks.slack.com', '/services/T0/B0/secret', 'attachments'],
  ['discord.com', '/api/webhooks/1/secret', 'embeds'],
  ['acme.webhook.office.com', '/webhookb2/secret', 'summary'],
  ['chat.googleapis.com', '/v1/spaces/A/messages?key=k&token=secret', 'cardsV2'],
] as const

for (const [host, path, key] of SERVICES) {
  test(`${host} gets the shape it takes, without our own headers, and its answer counts`, async (t) => {
    const { received, address } = await receiver(t, (response) => response.writeHead(404).end('no_service'))
    const outbound = testOutbound(host, { [host]: ['127.0.0.1'] })
    const transport = createChatTransport({ outbound, webhookSecret: 'secret' })
    const outcome = await transport.send(orderTo(`http://${host}:${new URL(address).port}${path}`), never())
    equal(outcome.kind, 'channel_broken')
    ok(!JSON.stringify(outcome).includes('secret'))
    ok(key in (JSON.parse(received[0]?.body ?? '{}') as object))
    equal(received[0]?.headers['x-tagwarden-signature'], undefined)
  })
}

test('without a secret nothing is signed', async (t) => {
  const { received, address } = await receiver(t, (response) => response.end())
  await createChatTransport({ outbound: testOutbound(), webhookSecret: null }).send(orderTo(address), never())
  equal(received[0]?.headers['x-tagwarden-signature'], undefined)
})

test('a redirect is not followed: the message would arrive as a question for a page', async (t) => {
  const inside = await receiver(t, (response) => response.end())
  const { address } = await receiver(t, (response) => response.writeHead(302, { location: inside.address }).end())
  const transport = createChatTransport({ outbound: testOutbound(), webhookSecret: null })
  const outcome = await transport.send(orderTo(address), never())
  equal(outcome.kind, 'passing')
  equal(inside.received.length, 0)
})

test('an address that must not be reached breaks the channel, and the error says what excepts it', async () => {
  const transport = createChatTransport({ outbound: testOutbound('', {}), webhookSecret: null })
  for (const address of [
    'http://127.0.0.1:8080/hooks/secret',
    'http://[::1]:8080/hooks/secret',
    'http://here.example:8080/hooks/secret',
  ]) {
    const outcome = await transport.send(orderTo(address), never())
    equal(outcome.kind, 'channel_broken', address)
    match('error' in outcome ? outcome.error : '', /OUTBOUND_ALLOW/)
    ok(!JSON.stringify(outcome).includes('secret'))
  }
})

test('what fails on the way passes: no such name, no server there, hung up, no answer in time, cancelled', async (t) => {
  const transport = createChatTransport({ outbound: testOutbound(), webhookSecret: null })
  const rude = await tcpServer(t, (socket) => socket.destroy())
  const silent = await tcpServer(t, () => {})
  const outcomes = await Promise.all([
    transport.send(orderTo('http://unknown.example/hooks/secret'), never()),
    transport.send(orderTo('http://here.example:2/hooks/secret'), never()),
    transport.send(orderTo(`http://here.example:${rude.port}/hooks/secret`), never()),
    transport.send(orderTo(`http://here.example:${silent.port}/hooks/secret`), AbortSignal.timeout(200)),
    transport.send(orderTo(`http://here.example:${silent.port}/hooks/secret`), AbortSignal.abort()),
  ])
  for (const outcome of outcomes) {
    equal(outcome.kind, 'passing', JSON.stringify(outcome))
    ok(!JSON.stringify(outcome).includes('secret'))
  }
})

test('a message that was accepted is not sent again because the rest of the answer fails or does not end', async (t) => {
  const transport = createChatTransport({ outbound: testOutbound(), webhookSecret: null, answerMs: 100 })
  const answering = async (status: string, headers: string, body: string, then: (socket: Socket) => void) => {
    const { port } = await tcpServer(t, (socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`, () => then(socket))),
    )
    return transport.send(orderTo(`http://here.example:${port}/hooks/secret`), never())
  }
  const leftOpen = () => {}
  const endless = (socket: Socket) => {
    const timer = setInterval(() => socket.write('.'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const kinds = await Promise.all([
    answering('200 OK', 'Content-Length: 9', 'half', (socket) => socket.destroy()),
    answering('202 Accepted', 'Content-Length: 9', '', leftOpen),
    answering('200 OK', 'Content-Type: text/plain', '', endless),
    answering('200 OK', 'Content-Encoding: gzip\r\nContent-Length: 5', 'plain', leftOpen),
    answering('200 OK', 'Transfer-Encoding: chunked', 'zz\r\n', leftOpen),
    // What a refusal means may be in its body.
    answering('403 Forbidden', 'Content-Length: 9', 'half', (socket) => socket.destroy()),
    answering('404 Not Found', 'Content-Length: 9', '', leftOpen),
  ])
  deepEqual(
    kinds.map(({ kind }) => kind),
    ['delivered', 'delivered', 'delivered', 'delivered', 'delivered', 'passing', 'passing'],
  )
})

test('an address that is none breaks the channel', async () => {
  const transport = createChatTransport({ outbound: testOutbound(), webhookSecret: null })
  equal((await transport.send(orderTo('nonsense'), never())).kind, 'channel_broken')
})

const TEST = { kind: 'test', client: { id: 'c', name: 'ACME' }, asked_by: 'anna' } as const
const OPTIONS = { publicUrl: 'https://t.example', at: 0, idempotencyKey: 'k', channel: CHANNEL }

const URLS = [
  ['discord', 'https://discord.com/api/webhooks/1/t', 'https://discord.com/api/webhooks/1/t?wait=true'],
  [
    'discord',
    'https://discord.com/api/webhooks/1/t/slack?thread_id=2',
    'https://discord.com/api/webhooks/1/t?thread_id=2&wait=true',
  ],
  [
    'google_chat',
    'https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t%3D',
    'https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
  ],
  [
    'google_chat',
    'https://chat.googleapis.com/v1/spaces/A/messages?messageReplyOption=REPLY_MESSAGE_OR_FAIL',
    'https://chat.googleapis.com/v1/spaces/A/messages?messageReplyOption=REPLY_MESSAGE_OR_FAIL',
  ],
  [
    'teams',
    'https://a.logic.azure.com/x?sp=%2Ftriggers&sig=a%2Bb',
    'https://a.logic.azure.com/x?sp=%2Ftriggers&sig=a%2Bb',
  ],
  ['generic', 'https://hooks.example/x?a=%2f', 'https://hooks.example/x?a=%2f'],
] as const

for (const [service, address, url] of URLS) {
  test(`${address} is asked as ${url}`, () => equal(requestUrl(service, address, TEST, OPTIONS), url))
}
