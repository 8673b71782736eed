import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { areMuted, loadMutes, type Mute, muteFor, removeMutesOf } from '../../src/alerts/mutes.ts'
import { createSilence, removeSilence } from '../../src/alerts/silences/silences.ts'
import { DAY, HOUR, isoTime, SECOND } from '../../src/lib/index.ts'
import { lockText } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { openEmptyStore, postgres, testLogic } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'
import { type MuteApi, openMuteApi, placeOf } from './mute-support.ts'
import { alertRows, outbox, watch } from './support.ts'

const TARGET = { clientId: 'c', siteId: 's', probeId: 'p', subject: 'target' }
const NOWHERE = { client_id: null, site_id: null, probe_id: null }
const time = (id: string, scope: Partial<Mute>): Mute => ({
  id,
  ...NOWHERE,
  starts_at: 100,
  ends_at: 200,
  ...scope,
})

const CASES: [title: string, silences: Mute[], maintenances: Mute[], expected: [string, string | null] | null][] = [
  ['nothing', [], [], null],
  ['a silence of the client', [time('1', { client_id: 'c' })], [], ['silence:1', null]],
  ['a silence of the site', [time('1', { site_id: 's' })], [], ['silence:1', null]],
  ['a silence of the probe', [time('1', { probe_id: 'p' })], [], ['silence:1', null]],
  [
    'silences of others',
    [time('1', { client_id: 'x' }), time('2', { site_id: 'c' }), time('3', { probe_id: 's' })],
    [],
    null,
  ],
  ['maintenance of the site', [], [time('1', { site_id: 's' })], ['maintenance:1', '1']],
  ['maintenance of another', [], [time('1', { site_id: 'x' })], null],
  ['both', [time('1', { probe_id: 'p' })], [time('2', { client_id: 'c' })], ['silence:1', '2']],
  [
    'the first of several',
    [time('1', { probe_id: 'x' }), time('2', { probe_id: 'p' }), time('3', { site_id: 's' })],
    [],
    ['silence:2', null],
  ],
  ['one that has ended', [time('1', { probe_id: 'p', ends_at: 150 })], [], null],
  ['one that begins now', [time('1', { probe_id: 'p', starts_at: 150 })], [], ['silence:1', null]],
  ['one that begins later', [time('1', { probe_id: 'p', starts_at: 151 })], [], null],
]

test('who is muted, and why', () => {
  for (const [title, silences, maintenances, expected] of CASES) {
    const reason = expected === null ? null : { by: expected[0], maintenanceId: expected[1] }
    assert.deepEqual(muteFor(TARGET, silences, maintenances, 150), reason, title)
  }
})

testLogic(
  'alerts are muted together when at least one is unresolved and all unresolved ones are muted',
  async (store) => {
    const [site, other] = [await insertSite(store), await insertSite(store)]
    const [muted, open, resolved] = [
      await insertAlert(store, site, 100),
      await insertAlert(store, other, 100),
      await insertAlert(store, other, 100, { state: 'resolved', resolved_at: 150 }),
    ]
    const mutes = { silences: [time('1', { site_id: site.id })], maintenances: [] }
    for (const [alerts, expected] of [
      [[muted], true],
      [[muted, resolved], true],
      [[muted, open], false],
      [[{ ...muted, state: 'resolved' }], false],
      [[], false],
    ] as const) {
      assert.equal(areMuted(alerts, mutes, 150), expected, alerts.map(({ state }) => state).join())
    }
  },
)

async function create(api: MuteApi, what: 'silences' | 'maintenance', body: object): Promise<string> {
  const answer = await api.call<{ id: string }>('POST', `/api/${what}`, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.id
}

const WEEKLY = { title: 'Weekly', kind: 'weekly', weekdays: [5], start: '11:00', duration_minutes: 60 }

testLogic('what is in effect is read, with the window of weekly maintenance', async (store, t) => {
  const api = await openMuteApi(store, t)
  // 10:00 on a Friday in UTC, 11:00 in Berlin.
  const now = api.clock.now()
  const { site, probe } = placeOf(api, 0)
  const [soon, later] = [isoTime(now + HOUR), isoTime(now + DAY)]
  const silence = await create(api, 'silences', { probe_id: probe.id, starts_at: isoTime(now), ends_at: soon })
  await create(api, 'silences', { probe_id: probe.id, starts_at: soon, ends_at: later })
  const ofProbe = await create(api, 'maintenance', { ...WEEKLY, probe_id: probe.id })
  const weekly = await create(api, 'maintenance', { ...WEEKLY, site_id: site.id })
  await create(api, 'maintenance', { ...WEEKLY, site_id: site.id, is_active: false })
  await create(api, 'maintenance', { ...WEEKLY, site_id: site.id, start: '12:00' })
  const single = { title: 'Once', kind: 'once', client_id: site.client_id, starts_at: isoTime(now), ends_at: later }
  const once = await create(api, 'maintenance', single)
  await create(api, 'maintenance', { ...single, starts_at: soon })
  const inEffect = { starts_at: now, ends_at: now + HOUR }
  const mutes = await loadMutes(store.read, now)
  assert.deepEqual(mutes, {
    silences: [{ id: silence, ...NOWHERE, probe_id: probe.id, subject_key: null, ...inEffect }],
    maintenances: [
      { id: weekly, ...NOWHERE, site_id: site.id, ...inEffect },
      { id: once, ...NOWHERE, client_id: site.client_id, starts_at: now, ends_at: now + DAY },
      { id: ofProbe, ...NOWHERE, probe_id: probe.id, ...inEffect },
    ],
  })
  const target = { clientId: site.client_id, siteId: site.id, probeId: probe.id, subject: 'target' }
  assert.deepEqual(muteFor(target, mutes.silences, mutes.maintenances, now), {
    by: `silence:${silence}`,
    maintenanceId: weekly,
  })
  const before = await loadMutes(store.read, now - 1)
  assert.deepEqual(before, { silences: [], maintenances: [] })
})

testLogic('what is deleted takes its silences and maintenance along, and no others', async (store, t) => {
  const api = await openMuteApi(store, t)
  const [here, there] = [placeOf(api, 0), placeOf(api, 1)]
  const ends_at = isoTime(api.clock.now() + DAY)
  for (const { site, probe } of [here, there]) {
    for (const scope of [{ client_id: site.client_id }, { site_id: site.id }, { probe_id: probe.id }]) {
      await create(api, 'silences', { ...scope, ends_at })
      await create(api, 'maintenance', { ...WEEKLY, ...scope })
    }
  }
  const left = async () => [
    (await api.get<Mute[]>('/api/silences')).map(
      ({ client_id, site_id, probe_id }) => client_id ?? site_id ?? probe_id,
    ),
    (await api.get<Mute[]>('/api/maintenance')).map(
      ({ client_id, site_id, probe_id }) => client_id ?? site_id ?? probe_id,
    ),
  ]
  const elsewhere = [there.probe.id, there.site.id, there.site.client_id]
  const remove = (what: Parameters<typeof removeMutesOf>[1]) =>
    store.write.transaction().execute((trx) => removeMutesOf(trx, what))
  await remove({})
  assert.equal((await left()).flat().length, 12)
  await remove({ probeIds: [here.probe.id] })
  const withoutProbe = [...elsewhere, here.site.id, here.site.client_id]
  assert.deepEqual(await left(), [withoutProbe, withoutProbe])
  await remove({ siteIds: [here.site.id], clientIds: [here.site.client_id] })
  assert.deepEqual(await left(), [elsewhere, elsewhere])
})

test('a silence that begins or ends while a result waits for the alerts of its site counts', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { find, site, clock } = await watch(t, store)
  const ctx = { store, clock, actor: 'Ada' }
  const whileWaiting = async <T>(act: () => Promise<T>) => {
    const locked = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const holding = store.write.transaction().execute(async (trx) => {
      await lockText(trx, store, site.id)
      locked.resolve()
      await mayEnd.promise
    })
    await locked.promise
    const finding = find('c')
    try {
      await until('the result waits', async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
        return rows.length > 0 ? true : undefined
      })
      clock.advance(SECOND)
      return await act()
    } finally {
      mayEnd.resolve()
      await Promise.all([holding, finding])
    }
  }
  const ends_at = isoTime(clock.now() + HOUR)
  const { id } = await whileWaiting(() => createSilence(ctx, { client_id: site.client_id, ends_at }))
  assert.deepEqual(await outbox(store), [])
  assert.deepEqual(
    (await alertRows(store)).map(({ suppressed_by }) => suppressed_by),
    [`silence:${id}`],
  )
  await whileWaiting(() => removeSilence(ctx, id))
  assert.deepEqual(
    (await outbox(store)).map(({ kind }) => kind),
    ['opened'],
  )
})
