import assert from 'node:assert/strict'
import type { MaintenanceRecord } from '../../src/alerts/maintenance/schemas.ts'
import { DAY, HOUR, isoTime, newOrderedId } from '../../src/lib/index.ts'
import { chunksOf } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { auditOf, type MuteApi, openMuteApi, placeOf } from './mute-support.ts'

const WEEKLY = { title: 'Nightly restart', kind: 'weekly', weekdays: [6, 1, 6], start: '23:30', duration_minutes: 60 }

async function create(api: MuteApi, body: object): Promise<MaintenanceRecord> {
  const answer = await api.call<MaintenanceRecord>('POST', '/api/maintenance', body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

testOnEveryEngine('weekly maintenance takes the time zone of its site and says when it is next', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site, probe } = placeOf(api, 1)
  const record = await create(api, { ...WEEKLY, probe_id: probe.id })
  assert.deepEqual(record, {
    id: record.id,
    client_id: null,
    site_id: null,
    probe_id: probe.id,
    title: 'Nightly restart',
    kind: 'weekly',
    is_active: true,
    starts_at: null,
    ends_at: null,
    weekdays: [1, 6],
    start: '23:30',
    duration_minutes: 60,
    timezone: 'America/New_York',
    next_occurrence: { starts_at: '2026-11-22T04:30:00.000Z', ends_at: '2026-11-22T05:30:00.000Z' },
    is_under_way: false,
    created_at: '2026-11-20T10:00:01.000Z',
    created_by: 'anonymous',
  })
  assert.equal((await create(api, { ...WEEKLY, site_id: site.id })).timezone, 'America/New_York')
  assert.equal((await create(api, { ...WEEKLY, client_id: site.client_id })).timezone, 'UTC')
  assert.equal((await create(api, { ...WEEKLY, site_id: site.id, timezone: 'Asia/Kolkata' })).timezone, 'Asia/Kolkata')

  api.clock.set('2026-11-22T05:00:00Z')
  const [shown] = await api.get<MaintenanceRecord[]>(`/api/maintenance?probe_id=${probe.id}`)
  assert.deepEqual(shown, { ...record, is_under_way: true })
  const off = await api.patch<MaintenanceRecord>(`/api/maintenance/${record.id}`, { is_active: false })
  assert.deepEqual(off, { ...record, is_active: false, next_occurrence: null })
})

testLogic('maintenance without a title is called Maintenance', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { title: _title, ...untitled } = WEEKLY
  assert.equal((await create(api, { ...untitled, site_id: placeOf(api, 0).site.id })).title, 'Maintenance')
})

testOnEveryEngine('maintenance that is once is planned, moved, ended early and deleted', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site } = placeOf(api, 0)
  const starts_at = isoTime(api.clock.now() + HOUR)
  const ends_at = isoTime(api.clock.now() + 3 * HOUR)
  const record = await create(api, { title: ' Move ', kind: 'once', client_id: site.client_id, starts_at, ends_at })
  assert.equal(record.title, 'Move')
  assert.deepEqual(record.next_occurrence, { starts_at, ends_at })
  const path = `/api/maintenance/${record.id}`
  assert.deepEqual(await api.patch(path, {}), record)
  assert.deepEqual(await api.patch(path, { title: 'Move', starts_at }), record)
  api.clock.advance(2 * HOUR)
  const earlier = isoTime(api.clock.now() - HOUR / 2)
  assert.deepEqual(await api.patch(path, { ends_at: earlier }), { ...record, ends_at: earlier, next_occurrence: null })
  await api.delete(path)
  await api.refused(404, 'DELETE', path)
  await api.refused(404, 'PATCH', path, { title: 'Gone' })
  assert.deepEqual(await api.get('/api/maintenance'), [])
  const { site_id, probe_id, weekdays, start, duration_minutes, timezone, next_occurrence, is_under_way, ...held } =
    record
  assert.deepEqual(
    (await auditOf(store)).map(({ action, before, after }) => ({ action, before, after })),
    [
      { action: 'maintenance.create', before: null, after: held },
      { action: 'maintenance.update', before: { ends_at }, after: { ends_at: earlier } },
      { action: 'maintenance.delete', before: { ...held, ends_at: earlier }, after: null },
    ],
  )
})

testLogic('what is wrong with maintenance is named, when it is planned and when it is changed', async (store, t) => {
  const api = await openMuteApi(store, t)
  const site_id = placeOf(api, 0).site.id
  const now = api.clock.now()
  const [soon, later] = [isoTime(now + HOUR), isoTime(now + 2 * HOUR)]
  const once = { title: 'Move', kind: 'once', site_id }
  const cases: [body: object, message: string][] = [
    [{ ...once }, '/starts_at is required for kind once; /ends_at is required for kind once'],
    [{ ...once, starts_at: later, ends_at: soon }, '/ends_at must be after the start'],
    [{ ...once, starts_at: isoTime(now - 2 * HOUR), ends_at: isoTime(now - HOUR) }, '/ends_at must be in the future'],
    [
      { ...once, starts_at: soon, ends_at: isoTime(now + 367 * DAY) },
      '/ends_at must be at most 366 days after starts_at',
    ],
    [{ ...once, starts_at: soon, ends_at: later, start: '10:00' }, '/start is a field of weekly maintenance'],
    [
      { ...once, starts_at: soon, ends_at: later, title: ' ' },
      '/title must be one line of visible text, without control characters or characters that change the direction of text',
    ],
    [{ ...WEEKLY, site_id, ends_at: later }, '/ends_at is a field of one-time maintenance'],
    [
      { title: 'x', kind: 'weekly', site_id },
      '/weekdays is required for kind weekly; /start is required for kind weekly; /duration_minutes is required for kind weekly',
    ],
    [{ ...WEEKLY, site_id, weekdays: [] }, '/weekdays must have at least 1 entry'],
    [{ ...WEEKLY, site_id, weekdays: [0] }, '/weekdays/0 must be at least 1'],
    [{ ...WEEKLY, site_id, start: '24:00' }, '/start must be a time of day like 22:30'],
    [{ ...WEEKLY, site_id, duration_minutes: 10_081 }, '/duration_minutes must be at most 10080'],
    [{ ...WEEKLY, site_id, timezone: 'Mars/Olympus' }, '/timezone must be an IANA time zone like Europe/Berlin'],
    [{ ...WEEKLY, site_id, kind: 'monthly' }, '/kind must be one of once, weekly'],
    [{ ...WEEKLY }, 'exactly one of client_id, site_id and probe_id must be given'],
  ]
  for (const [body, message] of cases) {
    assert.equal((await api.refused(400, 'POST', '/api/maintenance', body)).message, message)
  }
  assert.deepEqual(await api.get('/api/maintenance'), [])
  const { id } = await create(api, { ...WEEKLY, site_id })
  const changes: [patch: object, message: string][] = [
    [{ starts_at: soon }, '/starts_at is a field of one-time maintenance'],
    [{ kind: 'once' }, '/kind is not a field that can be set here'],
    [{ site_id }, '/site_id is not a field that can be set here'],
    [{ start: '7:00' }, '/start must be a time of day like 22:30'],
  ]
  for (const [patch, message] of changes) {
    assert.equal((await api.refused(400, 'PATCH', `/api/maintenance/${id}`, patch)).message, message)
  }
  assert.equal((await auditOf(store)).length, 1)
})

testOnEveryEngine('maintenance is listed by place and by whether it can still happen, in pages', async (store, t) => {
  const api = await openMuteApi(store, t)
  const [here, there] = [placeOf(api, 0), placeOf(api, 1)]
  const weekly = await create(api, { ...WEEKLY, site_id: here.site.id })
  const off = await create(api, { ...WEEKLY, probe_id: here.probe.id, is_active: false })
  const ends_at = isoTime(api.clock.now() + HOUR)
  const once = { title: 'Once', kind: 'once', starts_at: isoTime(api.clock.now()), ends_at }
  const over = await create(api, { ...once, client_id: here.site.client_id })
  const coming = await create(api, { ...once, site_id: there.site.id, ends_at: isoTime(api.clock.now() + DAY) })
  api.clock.advance(2 * HOUR)
  const list = async (query: string) =>
    (await api.get<MaintenanceRecord[]>(`/api/maintenance?${query}`)).map(({ id }) => id)
  assert.deepEqual(await list(''), [coming.id, over.id, off.id, weekly.id])
  assert.deepEqual(await list(`client_id=${here.site.client_id}`), [over.id, off.id, weekly.id])
  assert.deepEqual(await list(`site_id=${here.site.id}`), [off.id, weekly.id])
  assert.deepEqual(await list('active_only=true'), [coming.id, weekly.id])
  const page = await api.call<MaintenanceRecord[]>('GET', '/api/maintenance?limit=2')
  assert.equal(page.link, `</api/maintenance?limit=2&before=${over.id}>; rel="next"`)
  assert.deepEqual(await list(`before=${over.id}`), [off.id, weekly.id])
})

testOnEveryEngine(
  'silences and maintenance of a client that are not over are limited, wherever they apply',
  async (store, t) => {
    const api = await openMuteApi(store, t)
    const [{ site, probe }, other] = [placeOf(api, 0), placeOf(api, 1)]
    const [soon, later] = [isoTime(api.clock.now() + HOUR), isoTime(api.clock.now() + 2 * HOUR)]
    const once = await create(api, {
      kind: 'once',
      site_id: site.id,
      starts_at: isoTime(api.clock.now()),
      ends_at: soon,
    })
    api.clock.advance(HOUR)
    await create(api, { ...WEEKLY, probe_id: probe.id, is_active: false })
    await api.call('POST', '/api/silences', { site_id: site.id, ends_at: later })
    for (const table of ['silences', 'maintenance'] as const) {
      const row = await store.write.selectFrom(table).selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
      const more = Array.from({ length: 499 }, () => ({ ...row, id: newOrderedId(api.clock.now()) }))
      for (const chunk of chunksOf(more)) await store.write.insertInto(table).values(chunk).execute()
    }
    const { message } = await api.refused(409, 'POST', '/api/silences', { probe_id: probe.id, ends_at: later })
    assert.equal(message, 'The client has 500 silences: delete one, or use one for a whole site or the client')
    await api.refused(409, 'POST', '/api/maintenance', { ...WEEKLY, client_id: site.client_id })
    // What is over would be one more.
    await api.refused(409, 'PATCH', `/api/maintenance/${once.id}`, { ends_at: later })
    await create(api, { ...WEEKLY, site_id: other.site.id })
  },
)
