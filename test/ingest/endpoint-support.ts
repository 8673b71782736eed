import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { CanaryBook } from '../../src/ingest/canaries.ts'
import { IngestEndpoint } from '../../src/ingest/endpoint.ts'
import { KeyIndex } from '../../src/ingest/key-index.ts'
import { LargeBodies } from '../../src/ingest/large-bodies.ts'
import { SampleRecorder } from '../../src/ingest/samples.ts'
import { Shedding } from '../../src/ingest/shedding.ts'
import { GroupCommit } from '../../src/journal/group-commit.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'

export const NOW = Date.parse('2026-11-20T10:00:30.000Z')
export const payload = eventPayload({ timestamp_ms: NOW })

interface Given {
  commits?: GroupCommit
  shedding?: Shedding
  largeBodies?: LargeBodies
  isClockInDoubt?: boolean
}

/** An endpoint that listens, over the given parts. */
export async function listen(t: TestContext, store: Store, given: Given = {}) {
  const clock = new TestClock(NOW)
  const keys = new KeyIndex(store, clock, { expiryTime: () => (given.isClockInDoubt === true ? null : clock.now()) })
  await keys.load()
  t.after(() => keys.close())
  const samples = new SampleRecorder(store)
  const canaries = new CanaryBook(store)
  const largeBodies = given.largeBodies ?? new LargeBodies(assert.ifError)
  t.after(() => largeBodies.close())
  const commits = given.commits ?? newCommits(store)
  const endpoint = new IngestEndpoint({
    clock,
    keys,
    samples,
    canaries,
    commits,
    shedding: given.shedding ?? new Shedding(performance.now()),
    largeBodies,
    keyHeaders: ['x-service-key'],
  })
  const server = createServer((request, response) => endpoint.handle(request, response)).listen(0)
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const send = async ({ ingest_key }: SiteRow, body = JSON.stringify(payload)) => {
    const headers = { 'content-type': 'application/json', 'x-service-key': ingest_key }
    const { status } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })
    return status
  }
  return { send, keys, clock, url: `http://127.0.0.1:${port}`, samples, canaries, commits, endpoint }
}

export const newCommits = (store: Store) =>
  new GroupCommit(store, new TestClock(NOW), 'node', {
    laneOf: () => 1,
    onSettled: (_rows, error) => assert.ifError(error),
  })
