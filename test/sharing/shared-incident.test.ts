import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Impact } from '../../src/alerts/incidents/impact.ts'
import { HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import type { SharedIncident } from '../../src/sharing/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { ADMIN, UNKNOWN_ID } from '../management/support.ts'

/** A service that asks for a key, and a client with a site, an incident on it, and a link to its status page. */
async function start(t: TestContext, engine: TestEngine) {
  const clock = new TestClock('2026-11-20T10:00:30.000Z')
  const api = await startTestService(t, clock, { ADMIN_TOKEN: ADMIN, ...(await placeFor(engine, t)) })
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await api.call(method, path, body, bearer(ADMIN))
    assert.ok(answer.status < 300, answer.text)
    return answer.status === 204 ? JSON.parse('null') : answer.json<T>()
  }
  const newClient = async (name: string) => {
    const { id } = await call<{ id: string }>('POST', '/api/clients', { name })
    const { token } = await call<{ token: string }>('POST', `/api/clients/${id}/status-link`)
    const site = await call<{ id: string; client_id: string }>('POST', '/api/sites', {
      client_id: id,
      name: `Shop of ${name}`,
      url: 'https://shop.example',
    })
    const probe = await insertProbe(api.service.store, site.id, {
      next_run_at: clock.now() + 60 * MINUTE,
      interval_seconds: 86_400,
    })
    return { id, token, site, probe }
  }
  const get = (token: string, id: string) => api.call('GET', `/api/status/${token}/incidents/${id}`)
  return { clock, call, get, newClient, store: api.service.store }
}

testPerEngine(
  'anyone who has the link sees an incident of its client, and nothing that people wrote',
  async (engine, t) => {
    const { clock, call, get, newClient, store } = await start(t, engine)
    const { token, site, probe } = await newClient('Acme')
    const began = clock.now() - 20 * MINUTE
    const incident = await insertIncident(store, site, began, { title: 'It is down', started_at: began - 5 * MINUTE })
    const about = { probe_id: probe.id, incident_id: incident.id, title: 'It is down', message: 'the address 10.0.0.7' }
    await insertAlert(store, site, began, { ...about, started_at: began - 5 * MINUTE })
    const looks = await call<SharedIncident['looks']>('PATCH', `/api/clients/${site.client_id}/status-page`, {
      accent: '#2f5fd0',
    })
    await call('POST', `/api/incidents/${incident.id}/notes`, { text: 'Our provider is at fault', by: 'Priya' })
    await call('POST', `/api/incidents/${incident.id}/acknowledge`, { by: 'Priya', comment: 'I call the provider' })
    const answer = await get(token, incident.id)
    assert.equal(answer.status, 200, answer.text)
    const shared = answer.json<SharedIncident>()
    assert.deepEqual(
      [shared.name, shared.title, shared.state, shared.started_at],
      ['Acme', 'It is down', 'acknowledged', '2026-11-20T09:35:30.000Z'],
    )
    assert.deepEqual(shared.looks, looks)
    assert.deepEqual(
      shared.sites.map(({ name, alerts }) => [name, ...alerts.map(({ title, state }) => `${title}, ${state}`)]),
      [['Shop of Acme', 'It is down, acknowledged']],
    )
    assert.deepEqual(
      shared.timeline.map(({ kind, text }) => [kind, text]),
      [['acknowledged', null]],
    )
    for (const secret of ['Priya', 'provider', '10.0.0.7', site.id, probe.id]) {
      assert.ok(!answer.text.includes(secret), secret)
    }
    assert.equal(answer.headers.get('x-robots-tag'), 'noindex, nofollow')
  },
  logicEngines,
)

testPerEngine(
  'what was lost is shared, and not what it was worth',
  async (engine, t) => {
    const { clock, get, newClient, store } = await start(t, engine)
    const { token, site } = await newClient('Acme')
    const purchases = { event_name: 'purchase', lost: 267, of: 425, low: 267, high: 267 }
    const impact: Impact = {
      from: clock.now() - HOUR,
      to: clock.now(),
      final: false,
      sites: 1,
      events: null,
      key_events: [purchases],
      executions: null,
      key_executions: [],
      share: null,
      estimate: 'counted',
      value: { currency: 'EUR', lost: 21_093, low: 21_093, high: 21_093, average_order_value: 79 },
    }
    const incident = await insertIncident(store, site, clock.now(), { impact: JSON.stringify(impact) })
    const answer = await get(token, incident.id)
    assert.equal(answer.json<SharedIncident>().loss, '267 of 425 purchases (63 %)')
    assert.doesNotMatch(answer.text, /€|EUR|21,?093|21k/)
  },
  logicEngines,
)

testPerEngine('why a check cannot run is not said, nor what quotes it', async (engine, t) => {
  const { clock, get, newClient, store } = await start(t, engine)
  const { token, site, probe } = await newClient('Acme')
  const title = 'cannot check: the token of hosting A was refused'
  const incident = await insertIncident(store, site, clock.now(), { cause: 'own', title })
  const about = { probe_id: probe.id, incident_id: incident.id }
  await insertAlert(store, site, clock.now(), { ...about, subject: 'check', title })
  await insertAlert(store, site, clock.now(), { ...about, title: 'It is slow' })
  const event = { incident_id: incident.id, at: clock.now(), actor: null }
  await store.write
    .insertInto('incident_events')
    .values([
      { ...event, id: '1', kind: 'opened', text: title },
      { ...event, id: '2', kind: 'joined', text: `“It is slow” began together with “${title}”` },
    ])
    .execute()
  const answer = await get(token, incident.id)
  const { title: shown, evidence, timeline, sites } = answer.json<SharedIncident>()
  assert.deepEqual([shown, evidence], ['One of our checks cannot run', []])
  assert.deepEqual(
    timeline.map(({ kind, text }) => [kind, text]),
    [
      ['opened', null],
      ['joined', null],
    ],
  )
  assert.deepEqual(sites[0]?.alerts.map((alert) => alert.title).sort(), ['It is slow', 'One of our checks cannot run'])
  assert.ok(!answer.text.includes('hosting'), answer.text)
})

testPerEngine(
  'a link opens no incident of others, of vendors or of a paused site, and none when it is revoked',
  async (engine, t) => {
    const { clock, call, get, newClient, store } = await start(t, engine)
    const [acme, other] = [await newClient('Acme'), await newClient('Other')]
    const now = clock.now()
    const own = await insertIncident(store, acme.site, now, { state: 'resolved', resolved_at: now })
    const foreign = await insertIncident(store, other.site, now, { state: 'resolved', resolved_at: now })
    const vendor = await insertIncident(store, null, now, { state: 'resolved', resolved_at: now })
    assert.equal((await get(acme.token, own.id)).status, 200)
    for (const id of [foreign.id, vendor.id, UNKNOWN_ID, 'no-id']) {
      const answer = await get(acme.token, id)
      assert.deepEqual([answer.status, answer.json<{ error: string }>().error], [404, 'not_found'], id)
    }
    for (const is_active of [false, true]) {
      await call('PATCH', `/api/sites/${acme.site.id}`, { is_active })
      assert.equal((await get(acme.token, own.id)).status, is_active ? 200 : 404)
    }
    clock.advance(SECOND)
    await call('DELETE', `/api/clients/${acme.id}/status-link`)
    assert.equal((await get(acme.token, own.id)).status, 404)
  },
  logicEngines,
)
