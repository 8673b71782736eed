import assert from 'node:assert/strict'
import { clearMutes } from '../../src/alerts/alerts.ts'
import type { SilenceRecord } from '../../src/alerts/silences/schemas.ts'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { UNKNOWN_ID } from '../management/support.ts'
import { auditOf, type MuteApi, openMuteApi, placeOf } from './mute-support.ts'

const after = (api: MuteApi, ms: number) => isoTime(api.clock.now() + ms)

async function create(api: MuteApi, body: object): Promise<SilenceRecord> {
  const answer = await api.call<SilenceRecord>('POST', '/api/silences', { ends_at: after(api, 2 * HOUR), ...body })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

testOnEveryEngine('a silence begins now, is active, and deleting it ends it and leaves a trace', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site } = placeOf(api, 0)
  const silence = await create(api, { site_id: site.id, comment: ' moving house ' })
  const now = isoTime(api.clock.now())
  assert.deepEqual(silence, {
    id: silence.id,
    client_id: null,
    site_id: site.id,
    probe_id: null,
    incident_id: null,
    subject_key: null,
    subject_label: null,
    until_resolved: false,
    starts_at: now,
    ends_at: after(api, 2 * HOUR - 1_000),
    comment: 'moving house',
    state: 'active',
    created_at: now,
    created_by: 'anonymous',
  })
  assert.deepEqual(await api.get('/api/silences'), [silence])
  await api.delete(`/api/silences/${silence.id}`)
  assert.deepEqual(await api.get('/api/silences'), [])
  await api.refused(404, 'DELETE', `/api/silences/${silence.id}`)
  await api.refused(404, 'DELETE', '/api/silences/nonsense')
  const { client_id, probe_id, incident_id, subject_key, subject_label, ...held } = silence
  assert.deepEqual(await auditOf(store), [
    { action: 'silence.create', actor: 'anonymous', entity_id: silence.id, before: null, after: held },
    { action: 'silence.delete', actor: 'anonymous', entity_id: silence.id, before: held, after: null },
  ])
})

testLogic('what is wrong with a silence is named, and nothing is kept of it', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site, probe } = placeOf(api, 0)
  const end = after(api, DAY)
  const one = 'exactly one of client_id, site_id, probe_id and incident_id must be given'
  const cases: [body: object, paths: string[], message: string][] = [
    [{ ends_at: end }, ['/client_id', '/site_id', '/probe_id', '/incident_id'], one],
    [{ ends_at: end, client_id: null }, ['/client_id', '/site_id', '/probe_id', '/incident_id'], one],
    [{ ends_at: end, site_id: site.id, probe_id: probe.id }, ['/site_id', '/probe_id'], one],
    [{ ends_at: end, client_id: UNKNOWN_ID }, ['/client_id'], '/client_id is not the id of a client'],
    [{ ends_at: end, site_id: UNKNOWN_ID }, ['/site_id'], '/site_id is not the id of a site'],
    [{ ends_at: end, probe_id: site.id }, ['/probe_id'], '/probe_id is not the id of a probe'],
    [{ ends_at: end, site_id: 'shop' }, ['/site_id'], '/site_id must be a UUID'],
    [{ site_id: site.id }, ['/ends_at'], '/ends_at is required, unless until_resolved is true'],
    [
      { site_id: site.id, ends_at: after(api, -HOUR), starts_at: after(api, -DAY) },
      ['/ends_at'],
      '/ends_at must be in the future',
    ],
    [{ site_id: site.id, ends_at: end, starts_at: end }, ['/ends_at'], '/ends_at must be after the start'],
    [{ site_id: site.id, ends_at: after(api, 367 * DAY) }, ['/ends_at'], '/ends_at must be at most 366 days from now'],
    [
      { site_id: site.id, ends_at: 'tomorrow' },
      ['/ends_at'],
      '/ends_at must be an ISO 8601 time like 2026-11-20T09:40:00.000Z',
    ],
    [
      { site_id: site.id, ends_at: end, comment: 'x'.repeat(501) },
      ['/comment'],
      '/comment must have at most 500 characters',
    ],
    [{ site_id: site.id, ends_at: end, until: end }, ['/until'], '/until is not a field that can be set here'],
  ]
  for (const [body, paths, message] of cases) {
    const error = await api.refused(400, 'POST', '/api/silences', body)
    assert.equal(error.message, message)
    assert.deepEqual(
      error.details.map(({ path }) => path),
      paths,
    )
  }
  assert.deepEqual(await api.get('/api/silences'), [])
  assert.deepEqual(await auditOf(store), [])
})

testOnEveryEngine('silences are listed by place, by whether they are in effect, and in pages', async (store, t) => {
  const api = await openMuteApi(store, t)
  const [here, there] = [placeOf(api, 0), placeOf(api, 1)]
  const ofClient = await create(api, { client_id: here.site.client_id })
  const ofSite = await create(api, { site_id: here.site.id, starts_at: after(api, HOUR) })
  const ofProbe = await create(api, { probe_id: here.probe.id, ends_at: after(api, 10_000) })
  const elsewhere = await create(api, { probe_id: there.probe.id, starts_at: '2020-01-01T00:00:00Z' })
  api.clock.advance(60_000)
  const list = async (query: string) => (await api.get<SilenceRecord[]>(`/api/silences?${query}`)).map(({ id }) => id)
  assert.deepEqual(
    (await api.get<SilenceRecord[]>('/api/silences')).map(({ id, state }) => [id, state]),
    [
      [elsewhere.id, 'active'],
      [ofProbe.id, 'ended'],
      [ofSite.id, 'scheduled'],
      [ofClient.id, 'active'],
    ],
  )
  assert.deepEqual(await list(`client_id=${here.site.client_id}`), [ofProbe.id, ofSite.id, ofClient.id])
  assert.deepEqual(await list(`site_id=${here.site.id}`), [ofProbe.id, ofSite.id])
  assert.deepEqual(await list(`probe_id=${here.probe.id}`), [ofProbe.id])
  assert.deepEqual(await list(`client_id=${there.site.client_id}&probe_id=${here.probe.id}`), [])
  assert.deepEqual(await list('active_only=true'), [elsewhere.id, ofClient.id])

  const first = await api.call<SilenceRecord[]>('GET', '/api/silences?limit=3')
  assert.equal(first.link, `</api/silences?limit=3&before=${ofSite.id}>; rel="next"`)
  const second = await api.call<SilenceRecord[]>('GET', `/api/silences?limit=3&before=${ofSite.id}`)
  assert.deepEqual(
    second.body.map(({ id }) => id),
    [ofClient.id],
  )
  assert.equal(second.link, undefined)
  assert.deepEqual(await list(`before=${ofProbe.created_at}`), [ofSite.id, ofClient.id])
  const error = await api.refused(400, 'GET', '/api/silences?before=yesterday')
  assert.equal(error.message, '/before must be the id of a silence or an ISO 8601 time')
})

testLogic('silences and single maintenance are kept for a time after their end', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site } = placeOf(api, 0)
  const short = await create(api, { site_id: site.id, ends_at: after(api, HOUR) })
  const long = await create(api, { site_id: site.id, ends_at: after(api, 2 * DAY) })
  const work = { site_id: site.id, title: 'Work', kind: 'once', starts_at: short.starts_at, ends_at: short.ends_at }
  assert.equal((await api.call('POST', '/api/maintenance', work)).status, 201)
  const rhythm = {
    site_id: site.id,
    title: 'Nightly',
    kind: 'weekly',
    weekdays: [1],
    start: '01:00',
    duration_minutes: 5,
  }
  assert.equal((await api.call('POST', '/api/maintenance', rhythm)).status, 201)
  const left = async () => [
    (await api.get<SilenceRecord[]>('/api/silences')).map(({ id }) => id),
    (await api.get<{ title: string }[]>('/api/maintenance')).map(({ title }) => title),
  ]
  const end = Date.parse(short.ends_at)
  await clearMutes(store, 90, end + 90 * DAY)
  assert.deepEqual(await left(), [
    [long.id, short.id],
    ['Nightly', 'Work'],
  ])
  await clearMutes(store, 90, end + 90 * DAY + 1)
  assert.deepEqual(await left(), [[long.id], ['Nightly']])
})

testLogic('a silence goes after its probe', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site } = placeOf(api, 0)
  const probe = await insertProbe(store, site.id)
  await create(api, { probe_id: probe.id, ends_at: after(api, HOUR) })
  const kept = await create(api, { site_id: site.id, ends_at: after(api, HOUR) })
  await store.write.deleteFrom('probes').where('id', '=', probe.id).execute()
  await clearMutes(store, 90, Date.parse(kept.starts_at))
  const left = await store.write.selectFrom('silences').select('id').execute()
  assert.deepEqual(left, [{ id: kept.id }])
})
