import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, isoTime, MINUTE, monthOf, nextMonthStart, SECOND, systemClock } from '../../src/lib/index.ts'
import { MachineClock } from '../../testkit/clock.ts'
import { countsIn } from '../../testkit/counts.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { placeFor, postgres } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')

/** Every loop's work once, some of it twice, as in half an hour. */
async function work({ service }: TestService): Promise<void> {
  const loops = [...(service.ingest?.loops ?? []), ...(service.worker?.loops ?? [])]
  for (const loop of [...loops, ...loops]) await loop.tick()
}

async function eventsOf(api: TestService, siteId: string): Promise<number> {
  const range = `from=${isoTime(NOW - 2 * DAY)}&to=${isoTime(NOW + 2 * DAY)}`
  const report = await api.call('GET', `/api/monitoring/sites/${siteId}/overview?${range}`)
  return report.json<{ total_events: number }>().total_events
}

for (const ahead of [405 * DAY, 9 * DAY, -405 * DAY]) {
  test(`a clock that is ${ahead / DAY} days ahead for half an hour destroys no count`, async (t) => {
    const clock = new MachineClock(NOW)
    const api = await startTestService(t, clock)
    const site = await api.newSite(await api.newClient())
    const send = async (times: number) => {
      for (let sent = 0; sent < times; sent++) {
        const answer = await api.ingest(site, eventPayload({ timestamp_ms: NOW - 2 * HOUR }))
        assert.equal(answer.status, 200)
      }
      await api.service.ingest.flush()
    }
    await send(100)
    await work(api)
    clock.set(NOW + ahead)
    await work(api)
    const ready = await api.call('GET', '/ready')
    assert.deepEqual([ready.status, ready.json<{ status: string }>().status], [200, 'degraded'])
    clock.advance(30 * MINUTE)
    await work(api)
    clock.set(NOW + 31 * MINUTE)
    // A late one, of an hour that a retention by that clock would have emptied.
    await send(1)
    await work(api)
    assert.equal(await eventsOf(api, site.id), 101)
    assert.equal((await api.call('GET', '/ready')).json<{ status: string }>().status, 'ok')
  })
}

for (const ahead of [24 * HOUR, -24 * HOUR]) {
  test(`a keyed repeat counts once while and after the clock is ${ahead / HOUR} hours ahead`, async (t) => {
    const clock = new MachineClock(NOW)
    const api = await startTestService(t, clock)
    const site = await api.newSite(await api.newClient())
    const send = async (key: string) => {
      const answer = await api.ingest(site, eventPayload({ timestamp_ms: NOW }), { 'idempotency-key': key })
      assert.equal(answer.status, 200)
    }
    await send('before')
    clock.set(NOW + ahead)
    await work(api)
    await send('before')
    await send('meanwhile')
    clock.set(NOW + 1)
    await work(api)
    await send('before')
    await send('meanwhile')
    await api.service.ingest.flush()
    const { committed, duplicates } = api.service.ingest.status().commits
    assert.deepEqual([committed, duplicates], [2, 3])
  })
}

test('on PostgreSQL a node whose clock is wrong takes no other for dead, and takes no lease from any', async (t) => {
  const place = await placeFor(postgres, t)
  const right = await startTestService(t, systemClock, place)
  assert.equal(await right.service.leases.claim('retention'), true)
  for (const ahead of [30 * SECOND, -30 * SECOND, 405 * DAY]) {
    const wrong = new MachineClock(Date.now() + ahead)
    const other = await startTestService(t, wrong, place)
    const living = await other.service.membership.liveNodeIds()
    assert.ok(living.includes(right.service.membership.nodeId))
    assert.equal(await other.service.leases.claim('retention'), false)
    assert.ok((await right.service.membership.liveNodeIds()).includes(other.service.membership.nodeId))
    // Its events are booked by the database's clock: the sender's time is within five minutes of it.
    const site = await other.newSite(await other.newClient())
    const payload = eventPayload({ timestamp_ms: Date.now() - MINUTE })
    assert.equal((await other.ingest(site, payload)).status, 200)
    await other.service.ingest.flush()
    const row = await right.service.store.read
      .selectFrom(countsIn(right.service.store.read, 'event_rollups'))
      .select(['bucket', 'skewed'])
      .where('site_no', '=', await siteNo(right, site.id))
      .executeTakeFirstOrThrow()
    assert.equal(row.skewed, 0)
  }
})

const MONTH = 31 * DAY

for (const ahead of [MONTH, -MONTH]) {
  const direction = ahead > 0 ? 'ahead' : 'behind'
  test(`on PostgreSQL a node whose clock is a month ${direction} counts quotas in the database's month`, async (t) => {
    const place = await placeFor(postgres, t)
    const right = await startTestService(t, systemClock, place)
    const client = await right.newClient({ events_per_month: 5 })
    const site = await right.newSite(client)
    const send = async (api: TestService) => {
      const answer = await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))
      await api.service.ingest.flush()
      return answer
    }
    const quotasOf = ({ service }: TestService) =>
      service.ingest.loops.find(({ name }) => name === 'quotas') ?? assert.fail('it does not learn of others')
    // One that learns by itself between two requests has nothing new to compare when it is asked to, and waits half a minute.
    const learnOfOthers = (api: TestService) => quotasOf(api).tick()
    await quotasOf(right).stop()
    assert.equal((await send(right)).status, 200)

    const machine = new MachineClock(Date.now() + ahead)
    const wrong = await startTestService(t, machine, place)
    await quotasOf(wrong).stop()
    assert.equal((await send(wrong)).status, 200)
    // Set once more while it runs, and back again: no month begins.
    for (const time of [Date.now() + 2 * ahead, Date.now()]) {
      machine.set(time)
      await learnOfOthers(wrong)
      assert.equal((await send(wrong)).status, 200)
    }
    machine.set(Date.now() + ahead)
    await learnOfOthers(right)
    assert.equal((await send(right)).status, 200)
    await learnOfOthers(wrong)

    const refused = await send(wrong)
    assert.equal(refused.status, 429)
    const now = Number(await right.service.store.now?.())
    const untilNextMonth = (nextMonthStart(now) - now) / SECOND
    const toldToWait = Number(refused.headers.get('retry-after'))
    assert.ok(Math.abs(toldToWait - untilNextMonth) < 60, `${toldToWait} s instead of ${untilNextMonth}`)
    const counted = await right.service.store.read
      .selectFrom('client_usage')
      .select(['month', 'events'])
      .where('client_id', '=', client.id)
      .execute()
    assert.deepEqual(counted, [{ month: monthOf(now), events: 5 }])
    for (const api of [right, wrong]) {
      const usage = await api.call('GET', `/api/clients/${client.id}/usage`)
      const { events, level } = usage.json<{ events: number; level: string }>()
      assert.deepEqual([events, level], [5, 'exceeded'])
    }
  })
}

async function siteNo({ service }: TestService, id: string): Promise<number> {
  const site = await service.store.read.selectFrom('sites').select('site_no').where('id', '=', id).executeTakeFirst()
  return site?.site_no ?? 0
}
