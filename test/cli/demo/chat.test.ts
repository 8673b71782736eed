import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { Chat, type ChatMessage, chatKeyIn } from '../../../src/cli/demo/chat.ts'
import { startTagServer } from '../../../src/cli/demo/tag-server.ts'

const PAYLOAD = {
  idempotency_key: 'one',
  sent_at: '2026-11-20T09:40:00.000Z',
  status: 'firing',
  text: '[CRITICAL] Shop: <b>Meta</b> fails\nSince 09:20\nhttp://127.0.0.1:1/alerts/7',
  client: { name: 'ACME' },
  alerts: [{ labels: { severity: 'critical' } }],
}

async function startChat(t: TestContext) {
  const chat = new Chat('the-key')
  const server = await startTagServer(null, () => undefined, chat)
  t.after(() => server.close())
  const post = (body: string, headers: Record<string, string> = {}, url = chat.hookUrl(server.url)) =>
    fetch(url, { method: 'POST', body, headers })
  return { chat, base: server.url, post }
}

/** The status of an answer to a request that names another host, as `fetch` does not let one do. */
const statusFor = (url: string, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })

test('a message to the webhook is shown once, with its tone and a link to the dashboard', async (t) => {
  const { chat, base, post } = await startChat(t)
  chat.leadTo('http://127.0.0.1:9')
  for (const round of [1, 2]) assert.equal((await post(JSON.stringify(PAYLOAD))).status, 204, `round ${round}`)
  const answer = await fetch(`${base}/chat/messages`)
  const { dashboard, messages } = (await answer.json()) as { dashboard: string; messages: ChatMessage[] }
  assert.equal(dashboard, 'http://127.0.0.1:9')
  assert.deepEqual(messages, [
    {
      number: 1,
      sentAt: PAYLOAD.sent_at,
      client: 'ACME',
      tone: 'critical',
      text: '[CRITICAL] Shop: <b>Meta</b> fails\nSince 09:20',
      path: '/alerts/7',
    },
  ])
  const later = (await (await fetch(`${base}/chat/messages?after=1`)).json()) as { messages: ChatMessage[] }
  assert.deepEqual(later.messages, [])
})

test('the chat takes nothing without its key, from a page, or that is no message, and keeps the newest 200', async (t) => {
  const { chat, base, post } = await startChat(t)
  const body = JSON.stringify(PAYLOAD)
  assert.equal((await post(body, {}, `${base}/chat/hook/the-kez`)).status, 404)
  assert.equal((await post(body, { origin: 'https://evil.example' })).status, 404)
  assert.equal((await post(body, { 'sec-fetch-site': 'cross-site' })).status, 403)
  for (const bad of ['', '{', 'null', '{"text":"hello"}', `"${'x'.repeat(300_000)}"`]) {
    assert.equal((await post(bad)).status, 400, bad.slice(0, 20))
  }
  assert.equal(chat.messages.length, 0)
  for (let at = 0; at < 205; at += 1) {
    const status = at % 2 === 0 ? 'resolved' : 'firing'
    await post(JSON.stringify({ ...PAYLOAD, status, idempotency_key: String(at), alerts: null }))
  }
  assert.deepEqual([chat.messages.length, chat.messages[0]?.number, chat.messages.at(-1)?.number], [200, 6, 205])
  assert.deepEqual([...new Set(chat.messages.map(({ tone }) => tone))].sort(), ['neutral', 'resolved'])
})

test('other pages read no messages, and a name of a stranger that leads here finds nothing', async (t) => {
  const { base } = await startChat(t)
  const page = await fetch(`${base}/chat`)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'nonce-[\w-]{20,}'/)
  const messages = await fetch(`${base}/chat/messages`, { headers: { 'sec-fetch-site': 'same-site' } })
  assert.equal(messages.status, 403)
  assert.equal(messages.headers.get('access-control-allow-origin'), null)
  for (const path of ['/chat', '/chat/messages']) assert.equal(await statusFor(`${base}${path}`, 'evil.example'), 403)
  assert.equal((await fetch(`${base}/shop/healthy`)).status, 200)
})

test('a webhook that leads elsewhere has no key of the chat', () => {
  assert.equal(chatKeyIn('http://127.0.0.1:4/chat/hook/abc'), 'abc')
  for (const other of [null, 'no address', 'https://hooks.slack.example/services/T/B']) {
    assert.equal(chatKeyIn(other), null)
  }
})
