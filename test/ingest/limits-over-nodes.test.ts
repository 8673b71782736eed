import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ROUND_INTERVAL_MS } from '../../src/ingest/demand.ts'
import { SECOND } from '../../src/lib/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { placeFor, postgres } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

const START = '2026-11-20T10:00:00.000Z'

test('two nodes on one database let a client through at its rate together', async (t) => {
  const clock = new TestClock(START)
  const nodes = await startTwo(t, clock)
  const limit = 40
  const send = await newSender(nodes, { requests_per_second: limit, events_per_month: null })
  const acceptedPerRound: number[] = []
  for (let round = 0; round < (12 * SECOND) / ROUND_INTERVAL_MS; round++) {
    // As much as the whole limit on each of them.
    const statuses = await Promise.all(nodes.map((node) => sendMany(limit / 4, () => send(node, clock.now()))))
    acceptedPerRound.push(statuses.flat().filter((status) => status === 200).length)
    clock.advance(ROUND_INTERVAL_MS)
    for (const node of nodes) await tick(node, 'rates')
  }
  const rounds = (10 * SECOND) / ROUND_INTERVAL_MS
  for (let first = 0; first + rounds <= acceptedPerRound.length; first++) {
    const accepted = acceptedPerRound.slice(first, first + rounds).reduce((sum, count) => sum + count, 0)
    assert.ok(accepted >= 9 * limit && accepted <= 11 * limit, `${accepted} in ten seconds`)
  }
})

test("what one node has accepted is gone from the client's quota on the other", async (t) => {
  const clock = new TestClock(START)
  const nodes = await startTwo(t, clock)
  const [a, b] = nodes
  const send = await newSender(nodes, { requests_per_second: null, events_per_month: 10 })
  assert.deepEqual(await sendMany(6, () => send(a, clock.now())), Array(6).fill(200))
  await a.service.ingest.flush()
  assert.equal(await send(b, clock.now()), 200)
  await tick(b, 'quotas')
  const statuses = await sendMany(5, () => send(b, clock.now()))
  assert.deepEqual(statuses.sort(), [200, 200, 200, 429, 429])
  await b.service.ingest.flush()
  await send(a, clock.now())
  await tick(a, 'quotas')
  assert.equal(await send(a, clock.now()), 429)
})

async function startTwo(t: TestContext, clock: TestClock): Promise<[TestService, TestService]> {
  const place = await placeFor(postgres, t)
  return [await startTestService(t, clock, place), await startTestService(t, clock, place)]
}

/** A new client with these limits, as a function that sends one event of it to a node and returns the status. */
async function newSender(
  nodes: readonly [TestService, TestService],
  limits: { requests_per_second: number | null; events_per_month: number | null },
): Promise<(node: TestService, at: number) => Promise<number>> {
  const client = await nodes[0].newClient(limits)
  const site = await nodes[0].newSite(client)
  const send = async (node: TestService, at: number) =>
    (await node.ingest(site, eventPayload({ timestamp_ms: at }))).status
  for (const node of nodes) await tick(node, 'rates')
  return send
}

const sendMany = (times: number, send: () => Promise<number>): Promise<number[]> =>
  Promise.all(Array.from({ length: times }, send))

async function tick(node: TestService, name: string): Promise<void> {
  const loop = node.service.ingest.loops.find((candidate) => candidate.name === name)
  assert.ok(loop !== undefined)
  await loop.tick()
}
