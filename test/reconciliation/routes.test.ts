import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DAY, HOUR, isoTime, newId } from '../../src/lib/index.ts'
import type { AuditRecord } from '../../src/management/index.ts'
import type { AddedRecord, ReconciliationAnswer, ReferenceRecord } from '../../src/reconciliation/index.ts'
import { removeDeletedSites } from '../../src/rollups/removal.ts'
import { applyRetention } from '../../src/rollups/retention.ts'
import { bearer } from '../../testkit/api.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { Random } from '../../testkit/random.ts'
import { startTestService } from '../../testkit/service.ts'
import { count } from '../analytics/support.ts'

const ADMIN_TOKEN = 'admin-token-0123456789'
const VIEWER_TOKEN = 'viewer-token-0123456789'
const CSV = { 'content-type': 'text/csv; charset=utf-8' }

async function start(engine: TestEngine, t: TestContext, environment: Record<string, string> = {}) {
  const clock = newClock()
  const api = await startTestService(t, clock, { ...environment, ...(await placeFor(engine, t)) })
  const address = (site: { id: string }, rest = '') => `/api/sites/${site.id}/reference-counts${rest}`
  /** Its row, as that of a site that has been there for a month. */
  const rowOf = async ({ id }: { id: string }) => {
    const { store } = api.service
    await store.write
      .updateTable('sites')
      .set({ created_at: NOW - 30 * DAY })
      .execute()
    return store.read.selectFrom('sites').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  }
  return { ...api, clock, address, rowOf }
}

const counts = (event: string, byHour: Record<string, number>, source = 'shop') =>
  Object.entries(byHour).map(([hour, of]) => ({ source, event, hour: `2026-11-${hour}:00:00Z`, count: of }))

testPerEngine(
  'counts are written, replaced by the same again, listed, and deleted by their source',
  async (engine, t) => {
    const api = await start(engine, t)
    const site = await api.newSite(await api.newClient())
    const send = (body: object) => api.ask<AddedRecord[]>('POST', api.address(site), body)
    const added = await send({
      counts: [
        ...counts('purchase', { '19T10': 5, '19T11': 0 }),
        ...counts('refund', { '19T10': 1 }),
        ...counts('purchase', { '18T23': 7 }, 'pay/paypal'),
      ],
    })
    assert.deepEqual(added, [
      {
        source: 'shop',
        events: ['purchase', 'refund'],
        hours: 3,
        first_hour: '2026-11-19T10:00:00.000Z',
        last_hour: '2026-11-19T11:00:00.000Z',
      },
      {
        source: 'pay/paypal',
        events: ['purchase'],
        hours: 1,
        first_hour: '2026-11-18T23:00:00.000Z',
        last_hour: '2026-11-18T23:00:00.000Z',
      },
    ])
    await send({ counts: counts('purchase', { '19T10': 6, '19T12': 2 }) })
    const listed = () => api.ask<ReferenceRecord[]>('GET', api.address(site))
    assert.deepEqual(
      (await listed()).map(({ source, event, hours, total }) => [source, event, hours, total]),
      [
        ['pay/paypal', 'purchase', 1, 7],
        ['shop', 'purchase', 3, 8],
        ['shop', 'refund', 1, 1],
      ],
    )
    await api.ask('DELETE', api.address(site, '/pay%2Fpaypal'))
    await api.ask('DELETE', api.address(site, '/shop'))
    assert.deepEqual(await listed(), [])
    assert.equal((await api.call('DELETE', api.address(site, '/shop'))).status, 404)
    const audit = await api.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${site.id}`)
    assert.deepEqual(
      audit.flatMap(({ action, before, after }) =>
        action.startsWith('reference_counts') ? [[action, (before ?? after)?.source, (before ?? after)?.events]] : [],
      ),
      [
        ['reference_counts.delete', 'shop', 'purchase, refund'],
        ['reference_counts.delete', 'pay/paypal', 'purchase'],
        ['reference_counts.create', 'shop', 'purchase'],
        ['reference_counts.create', 'pay/paypal', 'purchase'],
        ['reference_counts.create', 'shop', 'purchase, refund'],
      ],
    )
  },
)

testPerEngine(
  'a file of CSV is taken whole or not at all, and its faults name their lines',
  async (engine, t) => {
    const api = await start(engine, t)
    const site = await api.newSite(await api.newClient())
    const send = (text: string, query = '') => api.call('POST', api.address(site, query), text, CSV)
    const bad = await send('source,event,hour,count\nshop,purchase,2026-11-19T10:00:00Z,5\nshop,purchase,yesterday,5')
    assert.equal(bad.status, 400)
    assert.deepEqual(
      bad.json<{ message: string }>().message,
      'line 3, hour must be a time with a time zone, such as 2026-11-20T14:00:00Z',
    )
    assert.deepEqual(await api.ask('GET', api.address(site)), [])
    const good = await send('event;hour;count\r\npurchase;2026-11-19T10:00:00Z;5\r\n', '?source=shop')
    assert.equal(good.status, 200, good.text)
    assert.equal(good.json<AddedRecord[]>()[0]?.hours, 1)
    assert.equal((await send('')).status, 400)
    assert.equal((await send('x'.repeat(1_100_000))).status, 413)
    const json = { counts: counts('purchase', { '19T10': 5 }) }
    assert.equal((await api.call('POST', api.address(site, '?source=shop'), json)).status, 400)
    assert.equal((await api.call('POST', api.address({ id: newId() }), json)).status, 404)
    // No other call takes CSV.
    assert.equal((await api.call('POST', '/api/clients', 'name\nAcme', CSV)).status, 400)
  },
  logicEngines,
)

testPerEngine(
  'a site has few sources, and a source few events',
  async (engine, t) => {
    const api = await start(engine, t)
    const site = await api.newSite(await api.newClient())
    const send = (source: string, events: number) =>
      api.call('POST', api.address(site), {
        counts: Array.from({ length: events }, (_, n) => counts(`event ${n}`, { '19T10': 1 }, source)).flat(),
      })
    for (let n = 0; n < 10; n++) assert.equal((await send(`source ${n}`, 1)).status, 200)
    assert.equal((await send('one more', 1)).status, 409)
    assert.equal((await send('source 1', 20)).status, 200)
    const refused = await send('source 1', 21)
    assert.equal(refused.status, 409)
    assert.match(refused.text, /“source 1” would have 21 events, but 20 are allowed/)
    assert.equal((await send('source 1', 20)).status, 200, 'those that are there')
  },
  logicEngines,
)

testPerEngine(
  'only an admin sends counts, and a viewer may read them',
  async (engine, t) => {
    const api = await start(engine, t, { ADMIN_TOKEN, VIEWER_TOKEN })
    const asAdmin = bearer(ADMIN_TOKEN)
    const client = (await api.call('POST', '/api/clients', { name: 'Acme' }, asAdmin)).json<{ id: string }>()
    const body = { client_id: client.id, name: 'shop', url: 'https://shop.example' }
    const site = (await api.call('POST', '/api/sites', body, asAdmin)).json<{ id: string }>()
    const file = 'source,event,hour,count\nshop,purchase,2026-11-19T10:00:00Z,5'
    assert.equal((await api.call('POST', api.address(site), file, CSV)).status, 401)
    assert.equal((await api.call('POST', api.address(site), file, { ...CSV, ...bearer(VIEWER_TOKEN) })).status, 403)
    assert.equal((await api.call('POST', api.address(site), file, { ...CSV, ...asAdmin })).status, 200)
    const listed = await api.call('GET', api.address(site), undefined, bearer(VIEWER_TOKEN))
    assert.equal(listed.json<ReferenceRecord[]>().length, 1)
  },
  logicEngines,
)

testPerEngine('the report holds the counts of both sides against each other, day by day', async (engine, t) => {
  const api = await start(engine, t)
  const site = await api.newSite(await api.newClient(), { timezone: 'Europe/Berlin' })
  const { store } = api.service
  const row = await api.rowOf(site)
  const purchases = (time: string, number: number) =>
    Array.from({ length: number }, (_, n) => eventPayload({ timestamp_ms: Date.parse(time) + n * 1_000 }))
  await count(store, row, [
    ...purchases('2026-11-18T23:10:00Z', 9),
    ...purchases('2026-11-19T10:10:00Z', 3),
    ...purchases('2026-11-19T12:10:00Z', 4),
    ...purchases('2026-11-20T09:10:00Z', 2),
    eventPayload({ timestamp_ms: NOW - DAY, event_name: 'page_view' }),
  ])
  await api.ask('POST', api.address(site), {
    counts: counts('purchase', { '18T23': 10, '19T10': 5, '19T11': 0, '20T09': 2, '20T10': 7 }),
  })
  const url = `/api/sites/${site.id}/reconciliation?source=shop&event=purchase`
  const report = await api.ask<ReconciliationAnswer>('GET', `${url}&days=3`)
  assert.deepEqual(
    report.days.map(({ day, reference, counted, captured, missing_hours, counted_in_missing, is_over }) => [
      day,
      reference,
      counted,
      captured,
      missing_hours,
      counted_in_missing,
      is_over,
    ]),
    [
      ['2026-11-18', null, null, null, 24, 0, true],
      ['2026-11-19', 15, 12, 0.8, 21, 4, true],
      // 10:00 has only begun.
      ['2026-11-20', 2, 2, 1, 10, 0, false],
    ],
  )
  assert.deepEqual([report.reference, report.counted, report.captured, report.shift], [17, 14, 14 / 17, null])
  assert.equal((await api.ask<ReconciliationAnswer>('GET', url)).days.length, 30)
  assert.equal((await api.call('GET', `${url}&days=91`)).status, 400)
  assert.equal((await api.call('GET', `/api/sites/${site.id}/reconciliation`)).status, 400)
  assert.equal((await api.call('GET', url.replace(site.id, newId()))).status, 404)
})

testPerEngine(
  'hours of the source that are off are found, and hours in which we were down or the site was not there are in neither',
  async (engine, t) => {
    const api = await start(engine, t)
    const site = await api.newSite(await api.newClient(), { timezone: 'Europe/Berlin' })
    const { store } = api.service
    const row = await api.rowOf(site)
    const byHour = new Map<number, number>()
    const random = new Random(1)
    for (let hour = NOW - 6 * DAY; hour < NOW - DAY; hour += HOUR) byHour.set(hour, 1 + random.below(12))
    await count(
      store,
      row,
      Array.from(byHour, ([hour, number]) =>
        Array.from({ length: number }, (_, n) => eventPayload({ timestamp_ms: hour + n * 60_000 })),
      ).flat(),
    )
    await api.ask('POST', api.address(site), {
      counts: Array.from(byHour, ([hour, number]) => ({
        source: 'shop',
        event: 'purchase',
        hour: isoTime(hour + HOUR),
        count: number,
      })),
    })
    await store.write
      .insertInto('outages')
      .values({ began_at: NOW - 6 * DAY + 90 * 60_000, ended_at: NOW - 6 * DAY + 100 * 60_000 })
      .execute()
    const url = `/api/sites/${site.id}/reconciliation?source=shop&event=purchase&days=10`
    const { shift, unknown_hours } = await api.ask<ReconciliationAnswer>('GET', url)
    assert.equal(unknown_hours, 1)
    assert.equal(shift?.hours, 1)
    assert.equal(
      shift?.message,
      "The source's hours appear to be shifted by +1 h, like Europe/Berlin: are they in local time? Send hours in UTC",
    )
    await store.write
      .updateTable('sites')
      .set({ created_at: NOW - 2 * DAY })
      .execute()
    const later = await api.ask<ReconciliationAnswer>('GET', url)
    assert.deepEqual([later.compared_hours, later.unknown_hours, later.shift], [25, 95, null])
  },
)

testPerEngine('hours in which the site was paused are compared with nothing', async (engine, t) => {
  const api = await start(engine, t)
  const site = await api.newSite(await api.newClient())
  const row = await api.rowOf(site)
  await count(api.service.store, row, [eventPayload({ timestamp_ms: Date.parse('2026-11-20T08:10:00Z') })])
  await api.ask('POST', api.address(site), { counts: counts('purchase', { '20T08': 1, '20T10': 9, '20T11': 9 }) })
  api.clock.set(Date.parse('2026-11-20T10:05:00Z'))
  await api.ask('PATCH', `/api/sites/${site.id}`, { is_active: false })
  api.clock.set(Date.parse('2026-11-20T12:05:00Z'))
  const url = `/api/sites/${site.id}/reconciliation?source=shop&event=purchase&days=1`
  const during = await api.ask<ReconciliationAnswer>('GET', url)
  assert.deepEqual([during.captured, during.compared_hours, during.unknown_hours], [1, 1, 2])
  await api.ask('PATCH', `/api/sites/${site.id}`, { is_active: true })
  const after = await api.ask<ReconciliationAnswer>('GET', url)
  assert.deepEqual([after.captured, after.compared_hours, after.unknown_hours], [1, 1, 2])
})

testPerEngine(
  'hours of which counts are no longer kept are not said to be unreported',
  async (engine, t) => {
    const api = await start(engine, t, { RETENTION_MINUTE_DAYS: '2', RETENTION_HOUR_DAYS: '7' })
    const site = await api.newSite(await api.newClient())
    await api.rowOf(site)
    await api.ask('POST', api.address(site), { counts: counts('purchase', { '19T10': 1 }) })
    const url = `/api/sites/${site.id}/reconciliation?source=shop&event=purchase&days=30`
    const { compared_hours, missing_hours, unknown_hours } = await api.ask<ReconciliationAnswer>('GET', url)
    // Seven days and the ten hours of today, without the one that was reported.
    assert.deepEqual([compared_hours, missing_hours, unknown_hours], [1, 7 * 24 + 10 - 1, 0])
  },
  logicEngines,
)

testPerEngine('counts go with their time and with their site', async (engine, t) => {
  const api = await start(engine, t)
  const client = await api.newClient()
  const [kept, gone] = [await api.newSite(client), await api.newSite(client)]
  const { store } = api.service
  for (const site of [kept, gone]) {
    await api.ask('POST', api.address(site), { counts: counts('purchase', { '01T10': 1, '19T10': 2 }) })
  }
  await applyRetention(store, { minuteDays: 2, hourDays: 10 }, NOW, () => true)
  const left = () => store.read.selectFrom('reference_counts').select(['site_no', 'total']).orderBy('site_no').execute()
  assert.deepEqual(
    (await left()).map(({ total }) => total),
    [2, 2],
  )
  await api.ask('DELETE', `/api/sites/${gone.id}`)
  await removeDeletedSites(store, NOW, () => true)
  assert.equal((await left()).length, 1)
})

testPerEngine(
  'counts without a body are refused with 400',
  async (engine, t) => {
    const api = await start(engine, t)
    const site = await api.newSite(await api.newClient())
    const answer = await fetch(`${api.url}${api.address(site)}`, { method: 'POST' })
    assert.equal(answer.status, 400, await answer.text())
  },
  logicEngines,
)
