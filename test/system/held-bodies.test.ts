import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BUDGET_BYTES, BUDGET_BYTES_FOR_SMALL, BUDGET_BYTES_PER_CLIENT } from '../../src/ingest/body.ts'
import { SECOND } from '../../src/lib/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { HeldBody, waitForBodies } from '../../testkit/held-body.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const BODY_BYTES = 1_048_576
/** Requests per second of the smallest plan. */
const RATE = 10

/** An event with an unknown field that fills the body. */
function largeBody(): string {
  const event = JSON.stringify(eventPayload({ timestamp_ms: NOW })).slice(0, -1)
  return `${event},"x":"${'x'.repeat(BODY_BYTES - event.length - 8)}"}`
}

/** A service, and senders that keep to their rate and hold their bodies back. */
async function startHeld(t: TestContext) {
  waitForBodies(t)
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock)
  const bytes = () => api.service.ingest.status().bytesUnderWay
  const held: HeldBody[] = []
  t.after(() => {
    for (const connection of held) connection.leave()
  })
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, bytes())
  }, 1)
  t.after(() => clearInterval(watch))
  const isWaiting = ({ status }: HeldBody) => status === undefined
  const body = largeBody()
  return {
    ...api,
    bytes,
    mostBytes: () => most,
    waiting: () => held.filter(isWaiting),
    newSlowSite: async () => api.newSite(await api.newClient({ requests_per_second: RATE })),
    large: (site: SiteKey) => api.ingest(site, body),
    small: (site: SiteKey) => api.ingest(site, eventPayload({ timestamp_ms: clock.now() })),
    /** As many as the rate lets through in so many seconds, each but for its last byte. */
    async hold(site: SiteKey, seconds: number): Promise<HeldBody[]> {
      const own: HeldBody[] = []
      for (let second = 0; second < seconds; second++) {
        const round = Array.from({ length: RATE }, () => new HeldBody(api.url, site, body))
        own.push(...round)
        held.push(...round)
        await until('what waits has arrived, and the rest is answered', () =>
          bytes() >= held.filter(isWaiting).length * (BODY_BYTES - 1) ? true : undefined,
        )
        clock.advance(SECOND)
      }
      return own
    },
  }
}

const statusesOf = (held: readonly HeldBody[]) => new Set(held.map(({ status }) => status ?? 'waiting'))

test(
  'bodies that a slow plan holds back for long fill one part of the room, and others are answered',
  inTurn(0, 3),
  async (t) => {
    const { newSlowSite, newClient, newSite, hold, waiting, large, small, bytes, mostBytes } = await startHeld(t)
    const [slow, healthy] = [await newSlowSite(), await newSite(await newClient())]
    // Two seconds fill its part. As many as may come until the first of them is cut off for its slowness would be 300 MB.
    const held = await hold(slow, amount(4, 12))
    assert.deepEqual(statusesOf(held), new Set(['waiting', '429']))
    const kept = waiting().length
    assert.ok(kept * (BODY_BYTES - 1) <= BUDGET_BYTES_PER_CLIENT, `${kept} are held`)
    assert.ok(kept >= 10, `only ${kept} are held`)
    assert.ok(mostBytes() <= BUDGET_BYTES_PER_CLIENT, `${mostBytes()} bytes`)
    for (const send of [small, large]) assert.equal((await send(healthy)).status, 200)
    assert.equal((await large(slow)).status, 429)

    // Half of them end well and half go away: either way their room is free again.
    const ending = waiting()
    for (const connection of ending.slice(kept / 2)) connection.leave()
    const statuses = await Promise.all(ending.slice(0, kept / 2).map((connection) => connection.finish()))
    assert.deepEqual(new Set(statuses), new Set(['200']))
    await until('all room is free', () => (bytes() === 0 ? true : undefined))
    assert.equal((await large(slow)).status, 200)
  },
)

test(
  'bodies that many clients hold back fill the room for all and no more, and small requests are answered',
  inTurn(1, 3),
  async (t) => {
    const { newSlowSite, newClient, newSite, hold, waiting, large, small, bytes, mostBytes } = await startHeld(t)
    const healthy = await newSite(await newClient())
    const all: HeldBody[] = []
    // The first fills its part of the room, and all of them the room.
    for (let client = 0; client < 8; client++)
      all.push(...(await hold(await newSlowSite(), client === 0 ? 2 : amount(1, 2))))
    assert.deepEqual(statusesOf(all), new Set(['waiting', '429', '503']))
    const kept = waiting().length
    assert.ok(kept * (BODY_BYTES - 1) <= BUDGET_BYTES, `${kept} are held`)
    assert.ok(kept >= 50, `only ${kept} are held`)
    // The beginning of a large body still counts as small.
    assert.ok(mostBytes() <= BUDGET_BYTES + BUDGET_BYTES_FOR_SMALL, `${mostBytes()} bytes`)
    for (let sent = 0; sent < 20; sent++) assert.equal((await small(healthy)).status, 200)
    const refused = await large(healthy)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])

    const statuses = await Promise.all(waiting().map((connection) => connection.finish()))
    assert.deepEqual(new Set(statuses), new Set(['200']))
    await until('all room is free', () => (bytes() === 0 ? true : undefined))
    assert.equal((await large(healthy)).status, 200)
  },
)
