import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/lib/index.ts'
import type { SiteKeyRecord } from '../../src/management/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { enginesInTurn, placeFor, postgres, testPerEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const SENDERS = 8
/** Sent with each key before the next step. */
const ENOUGH = amount(50, 150)
/** What the documentation promises of a change on every node, ms. */
const PROMISED_MS = 1_000

/** Senders that use the key they are given, on all nodes in turn, without ever repeating a request. */
function startSenders(nodes: readonly TestService[], first: string) {
  let key = first
  let isOver = false
  const refused: string[] = []
  const accepted = new Map<string, number>()
  const sender = async (_: unknown, n: number) => {
    for (let turn = n; !isOver; turn++) {
      const used = key
      const node = nodes[turn % nodes.length]
      const payload = eventPayload({ timestamp_ms: Date.now() })
      const answer = await node?.call('POST', '/ingest', payload, { 'x-service-key': used })
      if (answer?.status === 200) accepted.set(used, (accepted.get(used) ?? 0) + 1)
      else refused.push(`${answer?.status} ${answer?.text}`)
    }
  }
  const done = Promise.all(Array.from({ length: SENDERS }, sender))
  return {
    refused,
    total: () => [...accepted.values()].reduce((sum, count) => sum + count, 0),
    use: (next: string) => {
      key = next
    },
    hasSent: (with_: string) =>
      until('much is accepted', () => ((accepted.get(with_) ?? 0) > ENOUGH ? true : undefined)),
    async stop() {
      isOver = true
      await done
    },
  }
}

testPerEngine(
  'a key is rotated under load: no request is refused, and none is lost',
  async (engine, t) => {
    const place = await placeFor(engine, t)
    const first = await startTestService(t, systemClock, place)
    const nodes = engine.name === 'SQLite' ? [first] : [first, await startTestService(t, systemClock, place)]
    const site = await first.newSite(await first.newClient())
    const keysUrl = `/api/sites/${site.id}/keys`
    const senders = startSenders(nodes, site.ingest_key)
    await senders.hasSent(site.ingest_key)
    let current = { id: site.id, key: site.ingest_key }
    for (let round = 0; round < 2; round++) {
      const made = await first.ask<SiteKeyRecord>('POST', `${keysUrl}/${current.id}/rotate`)
      const key = made.ingest_key ?? ''
      // At once, on every node: the answer comes when all know it.
      senders.use(key)
      await senders.hasSent(key)
      current = { id: made.id, key }
    }
    await senders.stop()
    assert.deepEqual(senders.refused, [])
    await until('all is counted', async () =>
      (await first.totalEvents(site, 2)) >= senders.total() ? true : undefined,
    )
    assert.equal(await first.totalEvents(site, 2), senders.total())

    const old = await first.ask<SiteKeyRecord>('POST', `${keysUrl}/${site.id}/revoke`)
    assert.equal(old.state, 'revoked')
    const answeredAt = performance.now()
    for (const node of nodes) {
      await until('the revoked key is refused', async () =>
        (await node.ingest(site, {})).status === 403 ? true : undefined,
      )
    }
    const took = performance.now() - answeredAt
    t.diagnostic(`revoked on ${nodes.length} nodes after ${Math.round(took)} ms of ${PROMISED_MS}`)
    assert.equal((await first.ingest(site, {})).headers.get('x-refusal-reason')?.startsWith('the key "main" of'), true)
    for (const node of nodes) {
      assert.equal((await node.ingest({ ...site, ingest_key: current.key }, {})).status, 400)
    }
  },
  enginesInTurn,
)

test('a new site is answered when every node accepts its key, also a node that gets no notification', async (t) => {
  const place = await placeFor(postgres, t)
  const first = await startTestService(t, systemClock, place)
  const other = await startTestService(t, systemClock, place)
  const client = await first.newClient()
  // Until they listen again, nodes only look twice a second.
  await sql`select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`.execute(first.service.store.admin)
  assert.equal((await other.ingest(await first.newSite(client), {})).status, 400)
})

testPerEngine('the last use of a key is written by a loop of the minute', async (engine, t) => {
  const api = await startTestService(t, systemClock, await placeFor(engine, t))
  const site = await api.newSite(await api.newClient())
  await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))
  const lastUse = async () =>
    (await api.ask<SiteKeyRecord[]>('GET', `/api/sites/${site.id}/keys`))[0]?.last_used_at ?? null
  assert.equal(await lastUse(), null)
  const loop = api.service.ingest.loops.find(({ name }) => name === 'key-uses')
  assert.ok(loop !== undefined)
  await loop.tick()
  assert.notEqual(await lastUse(), null)
})
