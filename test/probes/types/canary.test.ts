import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { type CanaryMemory, inMemory, memoryOf, withArrivals, withSent } from '../../../src/probes/canary/memory.ts'
import { configFaults, type JsonObject, type ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { canary } from '../../../src/probes/types/canary.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW as TEST_NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { event } from '../../../testkit/payloads.ts'
import { hearFrom, insertSite } from '../../../testkit/sites.ts'
import { NOW as INGEST_NOW, listen } from '../../ingest/endpoint-support.ts'
import { httpServer } from '../../outbound/support.ts'
import { CHALLENGES } from './challenges.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

const GA4 = { measurement_id: 'G-TEST1234' }
/** Looked at once, and not waited for. */
const AT_ONCE = 500
/** Where it arrives, however busy the machine is. */
const PATIENT = 20_000
const NO_ARRIVALS = { read: undefined, reports: undefined } as unknown as Pick<Store, 'read' | 'reports'>

interface Asked {
  method: string
  url: URL
  body: string
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

/** A tag server that does this with each request and answers so. */
async function tagServer(t: TestContext, take: (asked: Asked) => Promise<number> | number) {
  const asked: Asked[] = []
  const { port } = await httpServer(t, (request, response) => {
    void textOf(request).then(async (body) => {
      const one = { method: request.method ?? '', url: new URL(request.url ?? '', 'http://tags.example'), body }
      asked.push(one)
      const status = await take(one)
      response.writeHead(status, status === 302 ? { location: 'https://parked.example/' } : {}).end()
    })
  })
  return { url: `http://127.0.0.1:${port}`, asked }
}

const run = (t: TestContext, site: SiteRow, given: Partial<RunGiven> = {}) =>
  runType(t, canary, { site, config: GA4, timeoutMs: AT_ONCE, ...given })

interface Details {
  failed_at: string | null
  event_name: string
  tags_that_ran: string[]
  not_arrived: number
}
const detailsOf = ({ details }: ProbeOutcome) => details as unknown as Details
const waitingIn = ({ memory }: ProbeOutcome) => memoryOf(memory ?? {}).waiting.length

/** A memory that knows of canaries that arrived. */
const ARRIVED = { waiting: [], last: { sent_at: TEST_NOW - 10 * MINUTE, arrived_at: TEST_NOW - 10 * MINUTE + 900 } }

/** A site whose tag server hands each event to ingest, as its tag does, unless the test says otherwise. */
async function wholeWay(t: TestContext, store: Store, isLost: () => boolean = () => false) {
  let deliver = (_name: string): Promise<number> => Promise.resolve(200)
  const server = await tagServer(t, ({ url }) => (isLost() ? 200 : deliver(url.searchParams.get('en') ?? '')))
  const site = await insertSite(store, { tag_server_url: `${server.url}/metrics` })
  const { send, canaries } = await listen(t, store)
  deliver = async (event_name) => {
    const tags = [{ id: '7', name: 'Meta', status: 'success' as const }]
    const status = await send(site, JSON.stringify(event(INGEST_NOW, { event_name, tags })))
    await canaries.flush()
    return status
  }
  return { site, asked: server.asked }
}

testLogic('a canary that comes through tag server, tag and ingest is fine', async (store, t) => {
  const { site, asked } = await wholeWay(t, store)
  const outcome = await run(t, site, { store, now: INGEST_NOW, timeoutMs: PATIENT })
  assert.equal(outcome.status, 'ok')
  assert.match(outcome.message, /^The canary of \S+ arrived after \d\.\d s\. Other tags ran on it: “Meta”$/)
  const [one] = asked
  assert.equal(one?.url.pathname, '/metrics/g/collect')
  const query = Object.fromEntries(one?.url.searchParams ?? [])
  assert.deepEqual([query.v, query.tid, query.gcs, query.dl], ['2', 'G-TEST1234', 'G100', site.url])
  assert.equal(query.en, detailsOf(outcome).event_name)
  assert.equal(waitingIn(outcome), 0)
})

testOnEveryEngine('two canaries that are lost are critical, and the next that arrives ends it', async (store, t) => {
  let isLost = true
  const { site } = await wholeWay(t, store, () => isLost)
  const first = await run(t, site, { store, memory: ARRIVED })
  assert.deepEqual([first.status, waitingIn(first)], ['ok', 1], 'it may be on its way')
  await hearFrom(store, site.id, TEST_NOW + MINUTE)
  const second = await run(t, site, { store, memory: first.memory ?? {}, now: TEST_NOW + 5 * MINUTE })
  assert.deepEqual([second.status, second.startedAt, detailsOf(second).failed_at], ['critical', TEST_NOW, 'arrival'])
  assert.match(
    second.message,
    /did not arrive within 60 s\. Other events arrive: the trigger of the tag excludes canaries/,
  )
  isLost = false
  const third = await run(t, site, { store, memory: second.memory ?? {}, now: TEST_NOW + 10 * MINUTE })
  assert.deepEqual([third.status, waitingIn(third)], ['ok', 0])
})

testLogic('a canary that was under way when a pause began is not awaited after it', async (store, t) => {
  const { site } = await wholeWay(t, store, () => true)
  const before = await run(t, site, { store, memory: ARRIVED })
  await hearFrom(store, site.id, TEST_NOW + DAY)
  const resumed = { store, memory: before.memory ?? {}, now: TEST_NOW + DAY }
  assert.equal((await run(t, site, resumed)).status, 'critical', 'without a pause')
  const after = await run(t, site, { ...resumed, isFirst: true })
  assert.deepEqual([after.status, waitingIn(after)], ['ok', 1], after.message)
})

testLogic('nor is it awaited where the first run after the pause reaches no tag server', async (store, t) => {
  const { site } = await wholeWay(t, store, () => true)
  const before = await run(t, site, { store, memory: ARRIVED })
  await hearFrom(store, site.id, TEST_NOW + DAY)
  const resumed = { store, memory: before.memory ?? {}, now: TEST_NOW + DAY, isFirst: true }
  for (const url of [await deadAddress(), (await tagServer(t, () => 503)).url]) {
    const failed = await run(t, { ...site, tag_server_url: url }, resumed)
    assert.equal(failed.status, 'critical')
    const next = { store, memory: failed.memory ?? resumed.memory, now: TEST_NOW + DAY + MINUTE }
    const after = await run(t, site, next)
    assert.deepEqual([after.status, waitingIn(after)], ['ok', 1], after.message)
  }
})

testOnEveryEngine(
  'a canary that takes longer than the limit is critical, however long after it the next run is',
  async (store, t) => {
    const server = await tagServer(t, () => 204)
    const site = await insertSite(store, { tag_server_url: server.url })
    const event_name = 'tagwarden_canary_a'
    const sentAt = TEST_NOW - 5 * MINUTE
    const arrived = async (arrived_at: number) => {
      await store.write.deleteFrom('canary_arrivals').execute()
      await store.write
        .insertInto('canary_arrivals')
        .values({ site_no: site.site_no, event_name, arrived_at, is_batched: 0, tags: '[]' })
        .execute()
      return run(t, site, { store, memory: { ...ARRIVED, waiting: [{ name: event_name, at: sentAt }] } })
    }
    const late = await arrived(sentAt + 200 * SECOND)
    assert.deepEqual([late.status, late.startedAt, detailsOf(late).failed_at], ['critical', sentAt, 'arrival'])
    assert.match(
      late.message,
      /^The canary of \S+ took 200\.0 s to arrive, longer than 60 s: .* needs a larger limit_seconds$/,
    )
    assert.equal((await arrived(sentAt + 60 * SECOND)).status, 'ok')
    // What this service could not take meanwhile comes again later.
    const outage = { began_at: sentAt + 10 * SECOND, ended_at: sentAt + 190 * SECOND }
    await store.write.insertInto('outages').values(outage).execute()
    assert.equal((await arrived(sentAt + 200 * SECOND)).status, 'ok')
    // Known from before a pause, it says nothing about now.
    const resumed = await run(t, site, { store, memory: { ...(late.memory ?? {}), waiting: [] }, isFirst: true })
    assert.equal(resumed.status, 'ok')
  },
)

testOnEveryEngine(
  'one that takes longer than the limit is missing in the same run, and where ingest refuses it says so',
  async (store, t) => {
    const server = await tagServer(t, () => 204)
    const site = await insertSite(store, { tag_server_url: server.url, key_revoked_at: TEST_NOW - MINUTE })
    const memory = { ...ARRIVED, waiting: [{ name: 'tagwarden_canary_a', at: TEST_NOW - 5 * MINUTE }] }
    const { status, message, startedAt } = await run(t, site, { store, memory })
    assert.deepEqual([status, startedAt], ['critical', TEST_NOW - 5 * MINUTE])
    assert.match(message, /Ingest is reached, but requests are refused: key revoked/)
  },
)

testLogic(
  'a canary that was due while this service was down proves nothing, and the next one does',
  async (store, t) => {
    const server = await tagServer(t, () => 204)
    const site = await insertSite(store, { tag_server_url: server.url })
    await store.write
      .insertInto('outages')
      .values({ began_at: TEST_NOW - 5 * MINUTE + 30 * SECOND, ended_at: TEST_NOW - 4 * MINUTE })
      .execute()
    const memory = { ...ARRIVED, waiting: [{ name: 'tagwarden_canary_a', at: TEST_NOW - 5 * MINUTE }] }
    const after = await run(t, site, { store, memory })
    assert.deepEqual([after.status, waitingIn(after)], ['ok', 1], after.message)
    const next = await run(t, site, { store, memory: after.memory ?? {}, now: TEST_NOW + 5 * MINUTE })
    assert.deepEqual([next.status, next.startedAt], ['critical', TEST_NOW])
  },
)

testLogic(
  'a restart hours before the limit of a canary proves nothing where canaries arrive at once',
  async (store, t) => {
    const server = await tagServer(t, () => 204)
    const site = await insertSite(store, { tag_server_url: server.url })
    await store.write
      .insertInto('outages')
      .values({ began_at: TEST_NOW - HOUR, ended_at: TEST_NOW - HOUR + 10 * SECOND })
      .execute()
    const given = { store, config: { ...GA4, limit_seconds: 7_200 } }
    const memory = {
      waiting: [{ name: 'tagwarden_canary_a', at: TEST_NOW - 2 * HOUR }],
      last: { sent_at: TEST_NOW - 3 * HOUR, arrived_at: TEST_NOW - 3 * HOUR + 900 },
    }
    const quick = await run(t, site, { ...given, memory: { ...memory, slowest_ms: 900 } })
    assert.deepEqual([quick.status, quick.startedAt], ['critical', TEST_NOW - 2 * HOUR])
    // In a batch it may have been due at the restart.
    const batched = await run(t, site, { ...given, memory: { ...memory, slowest_ms: HOUR } })
    assert.deepEqual([batched.status, waitingIn(batched)], ['ok', 1])
  },
)

testLogic('a canary counts as missing only once a process accepted events after its time', async (store, t) => {
  const server = await tagServer(t, () => 204)
  const site = await insertSite(store, { tag_server_url: server.url })
  const memory = { ...ARRIVED, waiting: [{ name: 'tagwarden_canary_a', at: TEST_NOW - MINUTE }] }
  const listenUntil = async (listened_until: number) => {
    await store.write.deleteFrom('listening').execute()
    await store.write.insertInto('listening').values({ id: 1, listened_until }).execute()
  }
  await listenUntil(TEST_NOW - 20 * SECOND)
  const early = await run(t, site, { store, memory })
  assert.deepEqual([early.status, waitingIn(early)], ['ok', 2], early.message)
  await listenUntil(TEST_NOW)
  const sure = await run(t, site, { store, memory })
  assert.deepEqual([sure.status, sure.startedAt], ['critical', TEST_NOW - MINUTE])
})

test('the slowest canary of late is remembered, and forgotten step by step', () => {
  const sent = (at: number) => ({ name: `tagwarden_canary_${at}`, at })
  const arrive = (memory: CanaryMemory, ...times: [at: number, arrived: number][]) =>
    withArrivals(
      times.reduce((all, [at]) => withSent(all, sent(at)), memory),
      new Map(times.map(([at, arrived]) => [sent(at).name, arrived])),
    )
  const batch = arrive(memoryOf({}), [1_000, 9_000], [5_000, 9_000])
  assert.deepEqual([batch.last, batch.slowestMs], [{ sentAt: 5_000, arrivedAt: 9_000 }, 8_000])
  assert.equal(arrive(memoryOf(inMemory(batch)), [10_000, 10_100]).slowestMs, 6_000)
})

testLogic(
  'while no process accepts events, a canary that does not arrive is an error of this service',
  async (store, t) => {
    const server = await tagServer(t, () => 204)
    const site = await insertSite(store, { tag_server_url: server.url })
    await store.write
      .insertInto('listening')
      .values({ id: 1, listened_until: TEST_NOW - 6 * MINUTE })
      .execute()
    const memory = { ...ARRIVED, waiting: [{ name: 'tagwarden_canary_a', at: TEST_NOW - 5 * MINUTE }] }
    const outcome = await run(t, site, { store, memory })
    assert.deepEqual(
      [outcome.status, outcome.message, detailsOf(outcome).failed_at],
      ['error', 'No process of this service has accepted requests for 6 minutes', null],
    )
  },
)

testOnEveryEngine(
  'while no canary has ever arrived the check is not set up: an error that helps, and no alert',
  async (store, t) => {
    const server = await tagServer(t, () => 200)
    const site = await insertSite(store, { tag_server_url: server.url })
    const first = await run(t, site, { store })
    assert.deepEqual([first.status, first.reason], ['ok', 'no_data'])
    const second = await run(t, site, { store, memory: first.memory ?? {}, now: TEST_NOW + 2 * MINUTE })
    assert.equal(second.status, 'error')
    assert.match(
      second.message,
      /^No canary has ever arrived\. Check that a client .* exclusion trigger .*No other event has ever arrived/,
    )
  },
)

testOnEveryEngine('a canary of another site, or one that was never sent, is none of this site', async (store, t) => {
  const server = await tagServer(t, () => 200)
  const [site, other] = [await insertSite(store, { tag_server_url: server.url }), await insertSite(store)]
  const waiting = [{ name: 'tagwarden_canary_mine', at: TEST_NOW - 5 * MINUTE }]
  const arrival = { event_name: 'tagwarden_canary_mine', arrived_at: TEST_NOW, is_batched: 0, tags: '[]' }
  const strange = { ...arrival, site_no: site.site_no, event_name: 'tagwarden_canary_strange' }
  await store.write
    .insertInto('canary_arrivals')
    .values([{ ...arrival, site_no: other.site_no }, strange])
    .execute()
  const { status } = await run(t, site, { store, memory: { ...ARRIVED, waiting } })
  assert.equal(status, 'critical')
})

const ANSWERS: readonly [status: number, says: RegExp][] = [
  [400, /answered 400: no client of the container claims the request/],
  [403, /answered 403: something in front of the container refuses it/],
  [502, /answered 502: the tag server or something in front of it fails/],
  [302, /redirects \(302\) to parked\.example\//],
]
for (const [status, says] of ANSWERS) {
  test(`an answer of ${status} is critical, and an error of the settings until one has arrived`, async (t) => {
    const server = await tagServer(t, () => status)
    const site = siteRow({ tag_server_url: server.url })
    const outcome = await run(t, site, { memory: ARRIVED, store: NO_ARRIVALS })
    assert.deepEqual([outcome.status, detailsOf(outcome).failed_at], ['critical', 'answer'])
    assert.match(outcome.message, says)
    const first = await run(t, site, { store: NO_ARRIVALS })
    assert.equal(first.status, 'error')
    assert.match(first.message, /No canary has ever arrived: check measurement_id/)
  })
}

test('a canary that a bot protection stops is an error: browsers may come through', async (t) => {
  for (const [vendor, status, headers, body] of CHALLENGES) {
    const { port } = await httpServer(t, (_, response) => response.writeHead(status, headers).end(body))
    const site = siteRow({ tag_server_url: `http://127.0.0.1:${port}` })
    const outcome = await run(t, site, { memory: ARRIVED, store: NO_ARRIVALS })
    assert.deepEqual([outcome.status, detailsOf(outcome).failed_at], ['error', 'answer'])
    const words = new RegExp(`^${vendor} blocks the check as a bot at .*/g/collect \\(${status}\\): allow `)
    assert.match(outcome.message, words)
  }
})

test('a tag server that cannot be reached is critical, and the details say at which step', async (t) => {
  const outcome = await run(t, siteRow({ tag_server_url: await deadAddress() }), { store: NO_ARRIVALS })
  assert.deepEqual([outcome.status, detailsOf(outcome).failed_at], ['critical', 'refused'])
  assert.equal(outcome.isNetworkFailure, true)
})

testLogic("a path of the user's own is asked with the name in it, by POST where there is a body", async (store, t) => {
  const server = await tagServer(t, () => 204)
  const site = await insertSite(store, { tag_server_url: server.url })
  const config = { path: '/data?v=2', body: '{"event_name":"{event}"}' }
  const { details } = await run(t, site, { store, config })
  const [one] = server.asked
  const name = (details as unknown as Details).event_name
  assert.deepEqual([one?.method, one?.url.pathname, one?.body], ['POST', '/data', `{"event_name":"${name}"}`])
  await run(t, site, { store, config: { path: '/pixel?en={event}' } })
  assert.match(server.asked[1]?.url.search ?? '', /^\?en=tagwarden_canary_[0-9a-f]{20}$/)
})

const FAULTS: readonly [what: string, config: JsonObject, paths: readonly string[]][] = [
  ['neither id nor path', {}, ['/config/measurement_id']],
  ['a path without a place for the name', { path: '/data' }, ['/config/path']],
  ['a body without a path', { ...GA4, body: '{event}' }, ['/config/body']],
  ['an id of something else', { measurement_id: 'UA-1' }, ['/config/measurement_id']],
  ['an id', GA4, []],
  ['a path', { path: '/c?e={event}', limit_seconds: 3_600 }, []],
]
for (const [what, config, paths] of FAULTS) {
  test(`settings of a canary with ${what} ${paths.length === 0 ? 'can be used' : 'are refused'}`, () => {
    assert.deepEqual(
      configFaults(canary, config).map(({ path }) => path),
      paths,
    )
  })
}

test('a canary that hangs is waited for no longer than its run', async (t) => {
  const server = await tagServer(t, () => new Promise(() => undefined))
  const site = siteRow({ tag_server_url: server.url })
  const outcome = await run(t, site, { timeoutMs: SECOND / 5, store: NO_ARRIVALS })
  assert.equal(outcome.status, 'critical')
})
