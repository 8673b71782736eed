import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { until } from '../../../testkit/until.ts'
import { ORIGIN, OUTCOME, respond, STORAGE, start } from './container.ts'
import { ANY_URL, fixture } from './fixture.ts'

const failed = { reason: 'failed' }
const timedOut = { reason: 'timed_out' }

const ENDPOINTS: readonly { what: string; answer: RequestListener; end: unknown; outcome: string }[] = [
  {
    what: 'accepts',
    answer: (_, response) => respond(response, 200, 'fine'),
    end: [200, 'fine', 'test'],
    outcome: 'answered',
  },
  {
    what: 'refuses',
    answer: (_, response) => respond(response, 403, 'no'),
    end: [403, 'no', 'test'],
    outcome: 'answered',
  },
  { what: 'fails', answer: (_, response) => respond(response, 500, ''), end: [500, '', 'test'], outcome: 'answered' },
  {
    what: 'redirects',
    answer: (_, response) => respond(response, 302, ''),
    end: [302, '', 'test'],
    outcome: 'answered',
  },
  { what: 'resets the connection', answer: (request) => request.socket.destroy(), end: failed, outcome: 'failed' },
  { what: 'breaks off in mid-answer', answer: breakOff, end: failed, outcome: 'failed' },
  { what: 'never answers', answer: () => {}, end: timedOut, outcome: 'timed_out' },
  {
    what: 'never ends its answer',
    answer: (_, response) => void response.write('a'),
    end: timedOut,
    outcome: 'timed_out',
  },
]

for (const { what, answer, end, outcome } of ENDPOINTS) {
  test(`A template sees an endpoint that ${what}`, async (t) => {
    // Whoever answers gets the time that a busy machine may need for it.
    const timeoutScale = end === timedOut ? 0.00003 : 1
    const { container } = await start(t, { text: OUTCOME, answer, timeoutScale })
    assert.equal((await container.fire({}, [])).status, 'success')
    await container.idle()
    assert.deepEqual(container.storage(0), { end })
    assert.equal(container.requests[0]?.outcome, outcome)
    assert.deepEqual(container.errors, [])
  })
}

for (const endpoint of ['https://elsewhere.test/ingest', 'https://tagwarden.test:8443/ingest', 'no address']) {
  test(`A request to ${endpoint} fails without touching the network`, async (t) => {
    const { container, received } = await start(t, { text: OUTCOME, fields: { endpoint } })
    await container.fire({}, [])
    await container.idle()
    assert.deepEqual([container.storage(0), received.length], [{ end: failed }, 0])
    assert.match(container.requests[0]?.error ?? '', /no entry of connect/)
  })
}

test('A promise may be given up before its request is through', async (t) => {
  const { container, received } = await start(t, {
    text: OUTCOME,
    promiseTimeout: 1,
    answer: (_, response) =>
      void until('the promise ends', () => container.storage(0).end).then(() => respond(response, 200, '')),
  })
  await container.fire({}, [])
  await container.idle()
  assert.deepEqual([container.storage(0), container.sent.accepted, received.length], [{ end: timedOut }, 1, 1])
})

test('The callback form of sendHttpRequest works too', async (t) => {
  const text = fixture({
    code: `const sendHttpRequest = require('sendHttpRequest');
const storage = require('templateDataStorage');
sendHttpRequest('${ORIGIN}/a?b=c', (status, headers, body) => storage.setItemCopy('good', [status, headers['x-kind'], body]), { method: 'PUT' }, 'text');
sendHttpRequest('https://nowhere.test/', (status) => storage.setItemCopy('bad', status));
data.gtmOnSuccess();`,
    permissions: [ANY_URL, STORAGE],
  })
  const { container, received } = await start(t, { text })
  await container.fire({}, [])
  await container.idle()
  assert.deepEqual(container.storage(0), { good: [200, 'test', 'ok'], bad: 0 })
  assert.deepEqual(
    received.map(({ method, path, body }) => [method, path, body]),
    [['PUT', '/a?b=c', 'text']],
  )
})

function breakOff(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': '100' })
  response.write('half', () => request.socket.destroy())
}
