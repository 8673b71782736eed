import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type {
  AlertRecord,
  IncidentDetail,
  IncidentRecord,
  IncidentSummary,
  NoteRecord,
} from '../../../src/alerts/index.ts'
import { lockUnresolved } from '../../../src/alerts/write-transitions.ts'
import { MINUTE, newId } from '../../../src/lib/index.ts'
import type { AuditRecord } from '../../../src/management/index.ts'
import { GATHER_MS } from '../../../src/notifications/index.ts'
import { apiClient, bearer } from '../../../testkit/api.ts'
import { logicEngines, postgres, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { insertIncident } from '../../../testkit/incidents.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { until } from '../../../testkit/until.ts'
import { openAccounts } from '../../accounts/support.ts'
import { MISSING, stage } from '../../notifications/api-support.ts'

interface Body {
  event: string
  alerts: { fingerprint: string; incident?: { id: string; alerts: number } }[]
  incident?: { id: string; alerts: number }
}

/** A site whose tag server two probes ask, a client with a webhook, and what that received. */
async function watched(t: TestContext, engine: TestEngine) {
  const api = await stage(t, engine)
  let status = 200
  const target = await startAnswering(t, (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok' : 'down')
  })
  const client = await api.newClient({ chat_webhook: api.hookUrl })
  const site = await api.newSite(client, { tag_server_url: target })
  const probes: string[] = []
  for (const name of ['health', 'health again']) {
    const answer = await api.call('POST', '/api/probes', {
      site_id: site.id,
      probe_type: 'http_health',
      interval_seconds: 3600,
      name,
    })
    assert.equal(answer.status, 201, answer.text)
    probes.push(answer.json<{ id: string }>().id)
  }
  return {
    ...api,
    client,
    site,
    /** All probes run once. */
    find: async (found: number) => {
      status = found
      for (const id of probes) {
        const answer = await api.call('POST', `/api/probes/${id}/run`)
        assert.equal(answer.status, 200, answer.text)
      }
      api.clock.advance(3 * GATHER_MS + 1)
      await api.service.membership.beat()
      await api.run()
    },
    bodies: () => api.received.map(({ body }) => JSON.parse(body) as Body),
    get: async <T>(path: string) => (await api.call('GET', path)).json<T>(),
  }
}

testPerEngine(
  'one outage that two probes see is one incident, one opening and one end at the webhook',
  async (engine, t) => {
    const { find, bodies, get, site, client } = await watched(t, engine)
    await find(503)
    const [incident, ...others] = await get<IncidentSummary[]>(`/api/incidents?site_id=${site.id}&resolved=false`)
    assert.ok(incident !== undefined)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [incident.cause, incident.state, incident.severity, incident.client_id, incident.scope],
      ['server', 'open', 'critical', client.id, 'site'],
    )
    assert.deepEqual([incident.alert_count, incident.site_count], [2, 1])
    const alerts = await get<AlertRecord[]>(`/api/alerts?site_id=${site.id}`)
    assert.deepEqual(
      alerts.map(({ incident_id }) => incident_id),
      [incident.id, incident.id],
    )
    const detail = await get<IncidentDetail>(`/api/incidents/${incident.id}`)
    assert.equal(detail.alerts.length, 2)
    assert.match(detail.evidence.join(), /both are about the same thing/)
    assert.deepEqual(
      detail.affected.map(({ site_id, site_name }) => [site_id, site_name]),
      [
        [site.id, 'shop'],
        [site.id, 'shop'],
      ],
    )
    assert.deepEqual(
      detail.timeline.map(({ kind }) => kind),
      ['opened', 'joined', 'notified'],
    )
    assert.deepEqual(
      detail.deliveries.map(({ kind, state }) => [kind, state]),
      [['opened', 'delivered']],
    )
    await find(503)
    await find(200)
    const told = bodies()
    assert.deepEqual(
      told.map(({ event }) => event),
      ['opened', 'resolved'],
    )
    const [opened, resolved] = told
    assert.equal(resolved?.alerts[0]?.fingerprint, opened?.alerts[0]?.fingerprint)
    assert.deepEqual([opened?.incident?.id, resolved?.incident?.alerts], [incident.id, 2])
    assert.equal((await get<IncidentRecord[]>('/api/incidents?resolved=true'))[0]?.state, 'resolved')
  },
)

testPerEngine(
  'an incident is acknowledged, noted about and resolved with all its alerts',
  async (engine, t) => {
    const { find, bodies, get, site, call } = await watched(t, engine)
    await find(503)
    const [incident] = await get<IncidentRecord[]>('/api/incidents')
    const path = `/api/incidents/${incident?.id}`
    const states = async () => (await get<AlertRecord[]>(`/api/alerts?site_id=${site.id}`)).map(({ state }) => state)

    const taken = await call('POST', `${path}/acknowledge`, { by: 'Ada', comment: 'on it' })
    assert.deepEqual([taken.status, taken.json<IncidentRecord>().acknowledged_by], [200, 'Ada'])
    assert.deepEqual(await states(), ['acknowledged', 'acknowledged'])
    const back = await call('POST', `${path}/unacknowledge`, {})
    await call('POST', `${path}/unacknowledge`, {})
    assert.deepEqual([back.json<IncidentRecord>().state, await states()], ['open', ['open', 'open']])

    const note = await call('POST', `${path}/notes`, { text: ' It was the provider ', by: 'Ada' })
    assert.deepEqual([note.status, note.json<NoteRecord>().text], [201, 'It was the provider'])
    assert.equal((await call('POST', `${path}/notes`, { text: ' ' })).status, 400)

    const ended = await call('POST', `${path}/resolve`, { by: 'Ada' })
    assert.equal(ended.json<IncidentRecord>().state, 'resolved')
    assert.deepEqual(await states(), ['resolved', 'resolved'])
    assert.equal((await call('POST', `${path}/resolve`, {})).status, 200)
    assert.equal((await call('POST', `${path}/acknowledge`, {})).status, 409)
    const audit = await get<AuditRecord[]>(`/api/audit?entity_id=${incident?.id}`)
    // What no one had acknowledged was not changed, and what was lost is no one's act.
    assert.deepEqual(
      audit.map(({ action, after }) => [action, Object.keys(after ?? {})]),
      [
        ['incident.resolve', ['state', 'resolved_at']],
        ['incident.note', ['id', 'at', 'by', 'text']],
        ['incident.unacknowledge', ['state', 'acknowledged_at', 'acknowledged_by']],
        ['incident.acknowledge', ['state', 'acknowledged_at', 'acknowledged_by']],
      ],
    )
    const detail = await get<IncidentDetail>(path)
    assert.deepEqual([detail.alert_count, detail.site_count], [2, 1])
    assert.deepEqual(
      detail.notes.map(({ by, text }) => [by, text]),
      [['Ada', 'It was the provider']],
    )
    assert.deepEqual(
      detail.timeline.map(({ kind, actor }) => (actor === null ? kind : `${kind} ${actor}`)),
      ['opened', 'joined', 'notified', 'acknowledged Ada', 'unacknowledged anonymous', 'noted Ada', 'resolved'],
    )
    assert.deepEqual(
      bodies().map(({ event }) => event),
      ['opened'],
      'its end waits for others',
    )
    for (const call_path of ['acknowledge', 'unacknowledge', 'resolve', 'notes']) {
      const body = call_path === 'notes' ? { text: 'x' } : {}
      assert.equal((await call('POST', `/api/incidents/${MISSING}/${call_path}`, body)).status, 404)
    }
    assert.equal((await call('GET', `/api/incidents/${MISSING}`)).status, 404)
  },
  logicEngines,
)

testPerEngine('an incident takes 200 notes and goes with its site, messages that wait too', async (engine, t) => {
  const { find, get, site, call, store } = await watched(t, engine)
  await find(503)
  const [incident] = await get<IncidentRecord[]>('/api/incidents')
  const note = () => call('POST', `/api/incidents/${incident?.id}/notes`, { text: 'x' })
  await note()
  const row = await store.read.selectFrom('incident_notes').selectAll().executeTakeFirstOrThrow()
  const more = Array.from({ length: 198 }, () => ({ ...row, id: newId() }))
  await store.write.insertInto('incident_notes').values(more).execute()
  const added = await Promise.all([note(), note(), note(), note()])
  assert.deepEqual(added.map(({ status }) => status).sort(), [201, 409, 409, 409], 'its page holds no more')
  // What is left of messages for an address that its server had put off, of this alert and of another one.
  const delivery = await store.read.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
  const { alert_id, message } = delivery
  const left = [message, message.replaceAll(alert_id ?? '', MISSING)].map((about) => {
    const rest = { alert_id: null, group_id: delivery.id, state: 'pending', message: about } as const
    return { ...delivery, ...rest, id: newId() }
  })
  await store.write.insertInto('deliveries').values(left).execute()
  assert.equal((await call('DELETE', `/api/sites/${site.id}`)).status, 204)
  const waiting = await store.read.selectFrom('deliveries').select('id').execute()
  assert.deepEqual(waiting, [{ id: left[1]?.id }], 'what is left of another alert')
  for (const table of ['incidents', 'incident_events', 'incident_notes'] as const) {
    assert.deepEqual(await store.read.selectFrom(table).selectAll().execute(), [], table)
  }
})

test('a site that goes while a probe of it has a result waits for the result, and neither gives up', async (t) => {
  const { find, site, call, store } = await watched(t, postgres)
  await find(503)
  const written = Promise.withResolvers<void>()
  const waited = Promise.withResolvers<void>()
  // As results are written: first the probes, then their alerts.
  const result = store.write.transaction().execute(async (trx) => {
    const probes = await trx.updateTable('probes').set({ last_message: 'down' }).returning('id').execute()
    written.resolve()
    await waited.promise
    const ids = probes.map(({ id }) => id)
    return lockUnresolved(trx, store, ids)
  })
  await written.promise
  const deleted = call('DELETE', `/api/sites/${site.id}`)
  await until('the deletion waits', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
    return rows.length > 0 ? true : undefined
  })
  waited.resolve()
  assert.equal((await result).length, 2)
  assert.equal((await deleted).status, 204)
})

testPerEngine(
  "an incident names the vendor's incident that explains it only to those who may open that one",
  async (engine, t) => {
    const { api, admin, clock } = await openAccounts(t, engine)
    const client = await admin.newClient({})
    const site = await admin.newSite(client)
    const at = clock.now() - MINUTE
    const vendor = await insertIncident(api.service.store, null, at, { vendor: 'meta' })
    const part = await insertIncident(api.service.store, site, at, { parent_id: vendor.id })
    const explained = await insertIncident(api.service.store, site, at, { parent_id: part.id })
    const parents = async (client_id: string | null) => {
      const role = { role: 'viewer', ...(client_id !== null && { client_ids: [client_id] }) }
      const { token } = await admin.ask<{ token: string }>('POST', '/api/tokens', { name: 'reads', ...role })
      const { ask, call } = apiClient(api.url, bearer(token))
      const read = ({ id }: { id: string }) => ask<IncidentDetail>('GET', `/api/incidents/${id}`)
      const { status } = await call('GET', `/api/incidents/${vendor.id}`)
      const listed = await ask<IncidentSummary[]>('GET', `/api/incidents?client_id=${client.id}`)
      const editing = { name: 'handles', ...role, role: 'editor' }
      const handler = apiClient(
        api.url,
        bearer((await admin.ask<{ token: string }>('POST', '/api/tokens', editing)).token),
      )
      for (const { id, parent_id } of listed) {
        assert.equal(parent_id, (await read({ id })).parent_id)
        const handled = await handler.ask<IncidentSummary>('POST', `/api/incidents/${id}/acknowledge`, {})
        assert.equal(handled.parent_id, parent_id)
      }
      assert.equal(listed.length, 2)
      return [status, (await read(part)).parent_id, (await read(explained)).parent_id]
    }
    assert.deepEqual(await parents(null), [200, vendor.id, part.id])
    assert.deepEqual(await parents(client.id), [404, null, part.id])
  },
  logicEngines,
)
