import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { dataFreshness } from '../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../src/probes/types/data-volume.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { NOW, newClock, TestClock } from '../../testkit/clock.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { HeldBody } from '../../testkit/held-body.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { count } from '../analytics/support.ts'
import { every, SLOT } from '../probes/types/data-support.ts'
import { runType } from '../probes/types/run-type.ts'

const SILENT_FROM = NOW - 7 * HOUR
/** Sixteen of these are what a client may have under way, and four times as many what all may. */
const BODY = ' '.repeat(1_000_000)

/** The first answer to one of them, although each lacks its last byte. */
const answerTo = (bodies: readonly HeldBody[]): Promise<string> =>
  until('one is answered', () => bodies.find(({ status }) => status !== undefined)?.status)

/** A site of a client of its own that sent until seven hours ago. */
async function silentSite(api: TestService): Promise<SiteKey> {
  const site = await api.newSite(await api.newClient())
  const row = await rowOf(api, site)
  await count(
    api.service.store,
    row,
    every(SLOT, NOW - 3 * DAY, SILENT_FROM).map((time) => event(time)),
  )
  await rollUpAll(api.service.store, NOW)
  return site
}

const rowOf = ({ service }: TestService, { id }: SiteKey) =>
  service.store.read.selectFrom('sites').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** What the site's freshness is now, after what was refused has been written down. */
async function freshness(t: TestContext, api: TestService, site: SiteKey): Promise<string> {
  await api.service.ingest.flush()
  const { message } = await runType(t, dataFreshness, { site: await rowOf(api, site), store: api.service.store })
  return message
}

const payload = eventPayload({ timestamp_ms: NOW })

test('a site that was paused says so while its silence lasts, and a silent one says that unknown keys are used', async (t) => {
  const api = await startTestService(t, newClock())
  const [off, clientOff, wrongKey, neighbour] = [
    await silentSite(api),
    await silentSite(api),
    await silentSite(api),
    await silentSite(api),
  ]
  const refused = async (site: SiteKey, path: string) => {
    assert.equal((await api.call('PATCH', path, { is_active: false })).status, 200)
    assert.equal((await api.ingest(site, payload)).status, 403)
    assert.equal((await api.call('PATCH', path, { is_active: true })).status, 200)
  }
  await refused(off, `/api/sites/${off.id}`)
  await refused(clientOff, `/api/clients/${clientOff.client_id}`)
  assert.equal((await api.ingest({ ...wrongKey, ingest_key: `${wrongKey.ingest_key}x` }, payload)).status, 401)
  assert.equal((await api.call('DELETE', `/api/sites/${neighbour.id}`)).status, 204)
  assert.equal((await api.ingest(neighbour, payload)).status, 401)

  const paused = 'refused: site or client paused since 20 Nov, 10:00 (1 request, none accepted)'
  assert.equal(await freshness(t, api, off), paused)
  assert.equal(await freshness(t, api, clientOff), paused)
  assert.match(
    await freshness(t, api, wrongKey),
    /^nothing received for .+; 2 requests with unknown keys were refused since 20 Nov, 10:00: check the sender's key$/,
  )
})

test('a site that loses some of its events to unknown keys says how many since the fall began', async (t) => {
  const began = NOW - 3 * HOUR
  const clock = new TestClock(began + HOUR)
  const api = await startTestService(t, clock)
  const { store, ingest, membership, listening } = api.service
  const site = await api.newSite(await api.newClient())
  // Different numbers, or they would be batches of one size.
  const sent = (from: number, to: number, events: number) =>
    every(SLOT, from, to).map((time) => batch(time, { total_events: events + ((time / SLOT) % 7) }))
  await count(store, await rowOf(api, site), [...sent(NOW - 9 * DAY, began, 300), ...sent(began, NOW, 40)])
  await rollUpAll(store, NOW)
  const stranger = { ...site, ingest_key: `${site.ingest_key}x` }
  for (let n = 0; n < 3; n++) assert.equal((await api.ingest(stranger, payload)).status, 401)
  await ingest.flush()
  clock.set(NOW)
  assert.equal((await api.ingest(stranger, payload)).status, 401)
  await ingest.flush()
  await Promise.all([membership.beat(), listening?.loop.tick()])
  const { message, findings } = await runType(t, dataVolume, { site: await rowOf(api, site), store })
  assert.match(
    message,
    /^\d+ % below normal: .+; 4 requests with unknown keys were refused since 20 Nov, 08:00: check the sender's key$/,
  )
  assert.equal(findings?.[0]?.message, message)
})

test('a site that never sent says that unknown keys are used, and nothing of requests without any key', async (t) => {
  const api = await startTestService(t, newClock())
  const site = await api.newSite(await api.newClient())
  const withoutKey = await fetch(`${api.url}/ingest`, { method: 'POST', body: '{}' })
  assert.equal(withoutKey.status, 401)
  assert.equal(await freshness(t, api, site), 'No event has arrived yet')
  assert.equal((await api.ingest({ ...site, ingest_key: `${site.ingest_key}x` }, payload)).status, 401)
  assert.equal(
    await freshness(t, api, site),
    "No event has arrived yet; 1 request with an unknown key was refused since 20 Nov, 10:00: check the sender's key",
  )
  assert.equal((await api.ingest(site, payload)).status, 200)
  assert.doesNotMatch(await freshness(t, api, site), /key/)
})

test('a client with too much under way learns so in the silence that follows, and one that is refused because all have', async (t) => {
  const api = await startTestService(t, newClock())
  const greedy = await silentSite(api)
  const late = await silentSite(api)
  const held: HeldBody[] = []
  t.after(() => {
    for (const body of held) body.leave()
  })
  const hold = (site: SiteKey, bodies: number): HeldBody[] => {
    const some = Array.from({ length: bodies }, () => new HeldBody(api.url, site, BODY))
    held.push(...some)
    return some
  }
  const first = await answerTo(hold(greedy, 17))
  assert.equal(first, '429')
  for (let client = 0; client < 3; client++) hold(await api.newSite(await api.newClient()), 16)
  // Clients are read in turn: one that came now would get room that these have not filled yet.
  await until('they are read', () => api.service.ingest.status().bytesUnderWay > 64 * BODY.length || undefined)
  const next = await answerTo(hold(late, 8))
  assert.equal(next, '503')

  assert.equal(
    await freshness(t, api, greedy),
    'refused: over the bytes that a client may have under way since 20 Nov, 10:00 (1 request, none accepted)',
  )
  assert.match(
    await freshness(t, api, late),
    /^refused: this service was overloaded \(503\) since 20 Nov, 10:00 \(\d requests?, none accepted\)$/,
  )
  const recent = await api.call('GET', `/api/monitoring/sites/${late.id}/recent`)
  const { rejections } = recent.json<{ rejections: { reason: string; path: string }[] }>()
  assert.deepEqual([rejections[0]?.reason, rejections[0]?.path], ['unavailable', 'bytes under way'])
})
