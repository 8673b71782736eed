import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { apiClient } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { inTurn } from '../../testkit/length.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'

const ROUNDS = 20

/** Sends the bytes and resets: what arrived is then read from a connection that has no other end any more. */
async function sendAndReset(port: number, bytes: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.once('connect', () => {
    socket.write(bytes)
    socket.resetAndDestroy()
  })
  await closed
}

for (const [name, settings, n] of [
  ['directly', {}, 0],
  ['through proxies that are believed', { TRUST_PROXY: '127.0.0.1', ALLOW_UNAUTHENTICATED: 'true' }, 1],
] as const) {
  test(`senders who have gone when their request is read end nothing (${name})`, inTurn(n, 3), async (t) => {
    const server = await startServerProcess(t, await tempDir(t), settings)
    const port = Number(new URL(server.url).port)
    const api = apiClient(server.url)
    const site = await api.newSite(await api.newClient())
    const body = JSON.stringify(eventPayload({ timestamp_ms: Date.now() }))
    const get = (path: string, ...headers: string[]) =>
      `GET ${path} HTTP/1.1\r\n${['Host: 127.0.0.1', ...headers].join('\r\n')}\r\n\r\n`
    const requests = [
      get('/health'),
      get('/api/clients', 'Authorization: Bearer wrong', 'X-Forwarded-For: unknown'),
      get('/api/clients', 'X-Forwarded-For: 10.1.2.3, 127.0.0.1'),
      get('/api/stream'),
      get('/nothing').repeat(40),
      get('/metrics').repeat(3),
      `POST /ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Service-Key: ${site.ingest_key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(requests.map((bytes) => sendAndReset(port, bytes)))
    }
    assert.equal((await api.call('GET', '/ready')).status, 200)
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
  })
}
