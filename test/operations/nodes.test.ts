import assert from 'node:assert/strict'
import { DEAD_AFTER_MS } from '../../src/cluster/index.ts'
import { nodeRoutes } from '../../src/operations/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { asShared, joinNode } from '../cluster/support.ts'
import { openApp } from '../http/support.ts'

testOnEveryEngine('the nodes are listed, the oldest first, with what each does', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock('2026-11-20T10:00:00Z')
  const app = await openApp(t, (routes) => nodeRoutes(routes, { store, clock }))
  const first = await joinNode(t, store, clock, { role: 'ingest', version: '1.0.0' })
  clock.advance(1_000)
  const second = await joinNode(t, store, clock, { role: 'worker', version: '1.1.0' })
  await second.leases.claim('roll-up')
  await second.leases.claim('removal')
  clock.advance(DEAD_AFTER_MS - 1_000)

  const answer = await app.inject('/api/nodes')
  assert.equal(answer.statusCode, 200)
  const [ingest, worker, ...others] = answer.json<{ name: string }[]>()
  assert.deepEqual(ingest, {
    id: first.membership.nodeId,
    name: ingest?.name,
    role: 'ingest',
    version: '1.0.0',
    started_at: '2026-11-20T10:00:00.000Z',
    last_seen_at: '2026-11-20T10:00:00.000Z',
    is_alive: false,
    leases: [],
  })
  assert.deepEqual(worker, {
    id: second.membership.nodeId,
    name: ingest?.name,
    role: 'worker',
    version: '1.1.0',
    started_at: '2026-11-20T10:00:01.000Z',
    last_seen_at: '2026-11-20T10:00:01.000Z',
    is_alive: true,
    leases: ['removal', 'roll-up'],
  })
  assert.deepEqual(others, [])
})
