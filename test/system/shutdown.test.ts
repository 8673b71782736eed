import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { apiClient } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'

testPerEngine(
  'SIGTERM under load: whatever was answered 200 is counted, and the process ends with code 0',
  async (engine, t) => {
    const folder = await tempDir(t)
    const environment = await placeFor(engine, t)
    const server = await startServerProcess(t, folder, environment)
    const api = apiClient(server.url)
    const site = await api.newSite(await api.newClient())
    let acknowledged = 0
    let other = 0
    let isOver = false
    const connection = async () => {
      while (!isOver) {
        const answer = await api.ingest(site, eventPayload({ timestamp_ms: Date.now() })).catch(() => undefined)
        if (answer === undefined) isOver = true
        else if (answer.status === 200) acknowledged++
        else other++
      }
    }
    const load = Promise.all(Array.from({ length: 16 }, connection))
    while (acknowledged < 300) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(await server.end('SIGTERM'), 0)
    await load
    assert.equal(other, 0)

    const again = await startServerProcess(t, folder, environment)
    const answer = await apiClient(again.url).call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
    assert.equal(answer.json<{ total_events: number }>().total_events, acknowledged)
    assert.equal(await again.end('SIGTERM'), 0)
  },
  logicEngines,
)

test('a second SIGINT does not wait for what is in flight', async (t) => {
  const server = await startServerProcess(t, await tempDir(t))
  const api = apiClient(server.url)
  const site = await api.newSite(await api.newClient())
  // A sender that stops in the middle of its body keeps the first SIGINT waiting.
  const { hostname, port } = new URL(server.url)
  const sender = connect(Number(port), hostname)
  t.after(() => sender.destroy())
  const head = ['POST /ingest HTTP/1.1', 'Host: x', 'Content-Length: 100', `X-Service-Key: ${site.ingest_key}`]
  sender.write(`${head.join('\r\n')}\r\n\r\n{`)
  await once(sender, 'connect')
  await api.call('GET', '/health')
  server.child.kill('SIGINT')
  await server.printed(/SIGINT: answering/)
  assert.equal(await server.end('SIGINT'), 130)
})
