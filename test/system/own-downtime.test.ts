import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { rollUp } from '../../src/rollups/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const START = Date.parse('2026-11-20T10:00:00.000Z')
const STEP = 15_000

/** Lets a site have received an event every 15 seconds from one time to another. */
async function receive({ service: { store } }: TestService, site: SiteKey, from: number, to: number): Promise<void> {
  const { site_no } = await store.read
    .selectFrom('sites')
    .select('site_no')
    .where('id', '=', site.id)
    .executeTakeFirstOrThrow()
  for (let day = from; day < to; day += DAY) {
    const count = (Math.min(to, day + DAY) - day) / STEP
    const payloads = Array.from({ length: count }, (_, n) => eventPayload({ timestamp_ms: day + n * STEP }))
    await writeJournal(store, 'gone', day, deltaOf(site_no, payloads, Math.min(to, day + DAY)))
  }
  // A day in one row is much for a fold, which spills it for the next; and the service may be folding some of it by itself.
  await until('a journal without rows', async () => {
    await foldOrphans(store, [])
    return (await store.read.selectFrom('journal').select('seq').executeTakeFirst()) === undefined || undefined
  })
  await rollUp(store, to)
}

/** Two of them are shorter than what the service would take for an outage of its own: a beat may join one under way. */
const PACE = 4 * SECOND

/** Lets time pass in a process that notices how: its own timers, due on a busy machine, would find that it leaps. */
async function pass({ service: { membership, listening } }: TestService, clock: TestClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= PACE) {
    clock.advance(Math.min(left, PACE))
    await Promise.all([membership.beat(), listening?.loop.tick()])
  }
}

/** What both probes that look for silence find now, and the alerts that are open then. */
async function look(api: TestService, site: SiteKey, clock: TestClock) {
  const probes = (await api.call('GET', `/api/probes?site_id=${site.id}`)).json<{ id: string; probe_type: string }[]>()
  const found = new Map<string, string>()
  const ids: string[] = []
  for (const { id, probe_type } of probes) {
    if (probe_type !== 'data_freshness' && probe_type !== 'data_volume') continue
    ids.push(id)
    // Refused while the service runs it by itself, and one that began before the clock leapt says what was so then.
    const { status, message } = await until('a run of the probe', async () => {
      const answer = await api.call('POST', `/api/probes/${id}/run`)
      const ran = answer.json<Record<string, string>>()
      return answer.status === 200 && Date.parse(ran.executed_at ?? '') === clock.now() ? ran : undefined
    })
    found.set(probe_type, `${status}: ${message}`)
  }
  await rest(api)
  const open = await api.service.store.read
    .selectFrom('alerts')
    .select('title')
    .where('state', '!=', 'resolved')
    .where('probe_id', 'in', ids)
    .execute()
  return {
    freshness: found.get('data_freshness') ?? '',
    volume: found.get('data_volume') ?? '',
    open: open.map(({ title }) => title),
  }
}

/** Runs of its own would open alerts of sites that this one does not call, or be under way; here only those asked for count. */
const rest = ({ service: { store } }: TestService) =>
  store.write
    .updateTable('probes')
    .set({ next_run_at: START + 900 * DAY })
    .execute()

async function openShop(t: TestContext, clock: TestClock, place: Record<string, string>) {
  const api = await startTestService(t, clock, place)
  const fields = { client_id: (await api.newClient()).id, name: 'Shop', url: 'https://shop.example' }
  const site = (await api.call('POST', '/api/sites?auto_probes=true', fields)).json<SiteKey>()
  await api.service.store.write
    .updateTable('sites')
    .set({ created_at: START - 30 * DAY })
    .execute()
  // Three days of events took longer than a probe's usual time on a machine where everyone waits for a core.
  await api.service.store.write.updateTable('probes').set({ timeout_ms: MINUTE }).execute()
  await rest(api)
  await receive(api, site, START - 3 * DAY, START)
  return { api, site }
}

testPerEngine(
  'three hours off are no silence of a site, and what is silent afterwards is found',
  async (engine, t) => {
    const clock = new TestClock(START)
    const place = await placeFor(engine, t)
    const { api, site } = await openShop(t, clock, place)
    const before = await look(api, site, clock)
    assert.match(before.freshness, /^ok: /)
    await api.service.stop(0)

    clock.advance(3 * HOUR)
    const again = await startTestService(t, clock, place)
    await pass(again, clock, MINUTE)
    const back = await look(again, site, clock)
    assert.match(back.freshness, /^ok: last event 3 h 1 min ago/)
    assert.match(back.volume, /^ok: /)
    assert.deepEqual(back.open, [])

    await pass(again, clock, 59 * MINUTE)
    const silent = await look(again, site, clock)
    assert.match(
      silent.freshness,
      // Each beat that came a little late has made the outage a step longer, and counts may be two minutes behind.
      /^critical: nothing received for (5\d|60) min \(not counting 3 h in which no event was accepted\)/,
    )
    assert.match(silent.volume, /^critical: no events for /)
    assert.ok(silent.open.length >= 1)
  },
  logicEngines,
)

testPerEngine(
  'a site that sends on after three hours off is fine',
  async (engine, t) => {
    const clock = new TestClock(START)
    const place = await placeFor(engine, t)
    const { api, site } = await openShop(t, clock, place)
    await api.service.stop(0)
    clock.advance(3 * HOUR)
    const again = await startTestService(t, clock, place)
    await receive(again, site, START + 3 * HOUR, START + 4 * HOUR)
    await pass(again, clock, HOUR)
    const back = await look(again, site, clock)
    assert.deepEqual([back.freshness.slice(0, 3), back.volume.slice(0, 3), back.open], ['ok:', 'ok:', []])
    const outages = await again.service.store.read.selectFrom('outages').selectAll().execute()
    assert.deepEqual(outages, [{ began_at: START, ended_at: START + 3 * HOUR }])
  },
  logicEngines,
)
