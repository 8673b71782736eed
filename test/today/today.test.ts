import assert from 'node:assert/strict'
import { createMaintenance, createSilence } from '../../src/alerts/index.ts'
import { DAY, HOUR, isoTime, MINUTE, newId, newOrderedId } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { Changes, type Today } from '../../src/today/index.ts'
import { today } from '../../src/today/today.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, testLogic, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { insertSite } from '../../testkit/sites.ts'
import { reportContext } from '../analytics/support.ts'
import { NOW, sendWeeks } from './support.ts'

const EVENING = Date.parse('2026-11-19T18:00:00.000Z')

const marker = (site_id: string, at: number, to_version: string) => ({
  site_id,
  id: newOrderedId(at),
  at,
  source: 'web container',
  from_version: '41',
  to_version,
  details: '{}',
})

/** An incident with one confirmed alert. */
async function night(store: Store, site: { id: string; client_id: string }, title: string, from: number, to?: number) {
  const ends = to === undefined ? {} : { state: 'resolved', resolved_at: to }
  const incident = await insertIncident(store, site, from, { title, ...ends })
  await insertAlert(store, site, from, { incident_id: incident.id, confirmed_at: from, ...ends })
}

testLogic('a morning shows the night, what changed, versions, quotas and what is muted', async (store) => {
  const context = reportContext(store, NOW)
  const changes = new Changes(context)
  const ctx = { store, clock: context.clock, actor: 'admin' }
  const shop = await insertSite(store, { name: 'shop' })
  const other = await insertSite(store, { name: 'other' })
  const off = await insertSite(store, { name: 'off', is_active: 0 })
  await sendWeeks(store, shop, { purchase: 10 })
  await night(store, shop, 'Opened in the night', EVENING + HOUR)
  await night(store, shop, 'Over by six', EVENING + HOUR, EVENING + 12 * HOUR)
  await night(store, shop, 'Ended in the evening', EVENING - 2 * HOUR, EVENING)
  await night(store, shop, 'Over before', EVENING - 2 * HOUR, EVENING - 1)
  await night(store, shop, 'Old', EVENING - 5 * DAY)
  await night(store, off, 'Switched off', EVENING + HOUR)
  await insertIncident(store, shop, EVENING + HOUR, {
    title: 'Never confirmed',
    state: 'resolved',
    resolved_at: EVENING + 2 * HOUR,
  })
  await insertIncident(store, null, EVENING + 3 * HOUR, { title: 'Meta fails', vendor: 'meta' })
  await night(store, other, 'Of the other', EVENING + 2 * HOUR)
  const published = NOW - 30 * MINUTE
  const markers = [
    marker(shop.id, published, '42'),
    marker(other.id, NOW - 2 * DAY, '7'),
    marker(off.id, published, '9'),
  ]
  await store.write.insertInto('deploy_markers').values(markers).execute()
  await store.write.updateTable('clients').set({ plan: 'free' }).execute()
  const used = [[shop, 100_000] as const, [other, 90_000] as const, [off, 10] as const]
  const usages = used.map(([{ client_id }, events]) => ({ client_id, month: 202_611, events, requests: 1 }))
  await store.write.insertInto('client_usage').values(usages).execute()
  await createSilence(ctx, { site_id: shop.id, ends_at: isoTime(NOW + HOUR), comment: 'Moving' })
  for (const paused of [{ site_id: off.id }, { client_id: off.client_id }])
    await createSilence(ctx, { ...paused, ends_at: isoTime(NOW + HOUR), comment: 'Switched off' })
  const times = { starts_at: isoTime(NOW - HOUR), ends_at: isoTime(NOW + 2 * HOUR) }
  await createMaintenance(ctx, { client_id: other.client_id, kind: 'once', title: 'Upgrade', ...times })

  const outage = { began_at: EVENING - HOUR, ended_at: EVENING + 5 * MINUTE }
  await store.write.insertInto('outages').values(outage).execute()

  const all = await today(context, changes, null, { timezone: 'UTC' })
  assert.partialDeepStrictEqual(all, { generated_at: isoTime(NOW), timezone: 'UTC', sites: 2 })
  const counts = { opened: 4, resolved: 2, open: 4 }
  assert.partialDeepStrictEqual(all.overnight, { since: isoTime(EVENING), down_seconds: 300, ...counts })
  assert.deepEqual(all.overnight.incidents.map(({ title }) => title).sort(), [
    'Ended in the evening',
    'Meta fails',
    'Of the other',
    'Old',
    'Opened in the night',
    'Over by six',
  ])
  assert.ok(
    all.overnight.incidents.slice(0, 4).every(({ state }) => state === 'open'),
    'what lasts comes first',
  )
  assert.deepEqual(
    all.changes.entries.map(({ site_id, kind, name, now }) => [site_id, kind, name, now]).sort(),
    [
      [shop.id, 'event', 'purchase', 20],
      [shop.id, 'tag_runs', 'Meta CAPI', 20],
    ].sort(),
  )
  const purchases = all.changes.entries.find(({ kind }) => kind === 'event')
  assert.match(purchases?.summary ?? '', /^purchase: 20, a week before 20\d \(−90 %, usually ±\d+(\.\d)? %\)$/)
  assert.partialDeepStrictEqual(all.changes, {
    to: '2026-11-20T09:00:00.000Z',
    compared: 1,
    complete: true,
    hours_left_out: 2,
  })
  assert.deepEqual(
    all.versions.map(({ site_id, to_version }) => [site_id, to_version]),
    [[shop.id, '42']],
  )
  assert.deepEqual(
    all.quotas.map(({ client_id, level, events }) => [client_id, level, events]),
    [
      [shop.client_id, 'exceeded', 100_000],
      [other.client_id, 'warning', 90_000],
    ],
  )
  assert.deepEqual(
    all.muted.map(({ kind, why }) => [kind, why]),
    [
      ['maintenance', 'Upgrade'],
      ['silence', 'Moving'],
    ],
  )

  const one = await today(context, changes, null, { client_id: other.client_id, timezone: 'UTC' })
  assert.partialDeepStrictEqual(one.overnight, { opened: 1, resolved: 0, open: 1 })
  assert.deepEqual([one.sites, one.versions, one.changes.entries], [1, [], []])
  assert.deepEqual(
    one.quotas.map(({ client_id }) => client_id),
    [other.client_id],
  )
  assert.deepEqual(
    one.muted.map(({ why }) => why),
    ['Upgrade'],
  )
})

testLogic(
  'what is muted of what is paused or gone is in no morning, be it a site, its probe or its incident',
  async (store) => {
    const context = reportContext(store, NOW)
    const ctx = { store, clock: new TestClock(NOW), actor: 'ada' }
    const paused = await insertSite(store)
    const probe = await insertProbe(store, paused.id)
    const incident = await insertIncident(store, paused, NOW - MINUTE)
    const ends_at = isoTime(NOW + HOUR)
    for (const scope of [{ site_id: paused.id }, { probe_id: probe.id }, { incident_id: incident.id }])
      await createSilence(ctx, { ...scope, ends_at })
    await createMaintenance(ctx, { kind: 'once', probe_id: probe.id, starts_at: isoTime(NOW - MINUTE), ends_at })
    const muted = async () => (await today(context, new Changes(context), null, { timezone: 'UTC' })).muted.length
    assert.equal(await muted(), 4)
    await store.write.deleteFrom('probes').execute()
    assert.equal(await muted(), 2, 'nor of a probe that was deleted a moment ago')
    await store.write.updateTable('sites').set({ is_active: 0 }).execute()
    assert.equal(await muted(), 0)
  },
)

testLogic(
  'of a night that no list holds everything is counted, and nothing that a part of it explains',
  async (store) => {
    const context = reportContext(store, NOW)
    const site = await insertSite(store, { name: 'shop' })
    const ends = { state: 'resolved' as const, resolved_at: NOW - MINUTE }
    const cause = await insertIncident(store, site, EVENING + HOUR, ends)
    const alert = await insertAlert(store, site, EVENING + HOUR, { incident_id: cause.id, confirmed_at: NOW, ...ends })
    for (let part = 0; part < 4; part++) {
      const parent_id = part === 0 ? cause.id : null
      const ids = Array.from({ length: 150 }, () => newOrderedId(EVENING + 2 * HOUR))
      await store.write
        .insertInto('incidents')
        .values(ids.map((id) => ({ ...cause, id, parent_id })))
        .execute()
      await store.write
        .insertInto('alerts')
        .values(ids.map((incident_id) => ({ ...alert, id: newId(), incident_id })))
        .execute()
    }
    const { overnight } = await today(context, new Changes(context), null, { timezone: 'UTC' })
    assert.partialDeepStrictEqual(overnight, { opened: 451, resolved: 451, open: 0 })
    assert.equal(overnight.incidents.length, 50)
  },
)

testPerEngine(
  'a service without anything has a calm morning, and nonsense is refused',
  async (engine, t) => {
    const api = await startTestService(t, new TestClock(NOW), await placeFor(engine, t))
    const calm = await api.ask<Today>('GET', '/api/today')
    assert.partialDeepStrictEqual(calm, { timezone: 'UTC', sites: 0, versions: [], quotas: [], muted: [] })
    assert.deepEqual([calm.overnight.opened, calm.changes.compared, calm.changes.complete], [0, 0, true])
    await api.ask('POST', '/api/clients', { name: 'Shop' })
    for (const [status, query] of [
      [404, `client_id=${newId()}`],
      [400, 'client_id=x'],
      [400, 'timezone=Mars/Olympus'],
    ] as const) {
      assert.equal((await api.call('GET', `/api/today?${query}`)).status, status, query)
    }
  },
  logicEngines,
)
