import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Type } from 'typebox'
import type { ErrorBody } from '../../src/http/index.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { hooksInOrder, managementRoutes } from '../../src/management/index.ts'
import { type ProbeRecord, probeRoutes, type ResultRecord } from '../../src/probes/index.ts'
import { RequiredSecret, SecretText } from '../../src/probes/probe-type.ts'
import type { Store } from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe, newResultRow } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { NO_KEYS, openApp } from '../http/support.ts'
import { ADMIN, type Answer, type Call, Management, UNKNOWN_ID, VIEWER } from '../management/support.ts'
import { OK, openNode, type ProbeNode, probeRow, typeOf } from './support.ts'

const run = async () => ({ ...OK, responseTimeMs: 3, details: { seen: [1, 'two', null] } })

const TYPES = [
  typeOf(run, { name: 'plain', title: 'Plain check' }),
  typeOf(run, {
    name: 'needy',
    title: 'Needy check',
    siteFields: ['tag_server_url'],
    needs: [['tag_server_url']],
    minIntervalSeconds: 900,
    defaultIntervalSeconds: 1_800,
    config: Type.Object(
      {
        low: Type.Integer({ minimum: 1, maximum: 100, default: 5, description: 'Lower bound' }),
        high: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'Upper bound' }),
        api_token: SecretText('Key of the provider'),
      },
      { additionalProperties: false },
    ),
    checkConfig: ({ low, high }) =>
      Number(low) < Number(high) ? [] : [{ path: '/low', message: 'must be below high' }],
  }),
  typeOf(run, { name: 'by_hand_only', autoNeeds: null }),
  typeOf(run, {
    name: 'keyed',
    autoNeeds: null,
    config: Type.Object({ token: RequiredSecret('Key that it cannot do without') }, { additionalProperties: false }),
  }),
  typeOf(run, {
    name: 'asking',
    autoNeeds: null,
    config: Type.Object(
      {
        address: Type.Optional(Type.String({ description: 'What it asks' })),
        path: Type.Optional(Type.String({ description: 'And what else' })),
        token: SecretText('Sent there'),
      },
      { additionalProperties: false },
    ),
    secretsSentTo: { token: 'address' },
  }),
]

interface Api extends Management {
  node: ProbeNode
}

async function openApi(store: Store, t: TestContext, withKeys = false): Promise<Api> {
  const clock = newClock()
  const node = await openNode(t, store, clock, TYPES)
  const keys = { adminToken: ADMIN, viewerToken: VIEWER, listensOnLoopback: false }
  const app = await openApp(t, () => undefined, { clock, publicUrl: null, access: withKeys ? keys : NO_KEYS })
  const { addProbes, registry, scheduler } = node.probes
  const deletionHooks = hooksInOrder([node.probes.deletionHooks])
  managementRoutes(app, {
    store,
    clock,
    deletionHooks,
    addProbes,
    defaultPlan: 'free',
    publicUrl: null,
    untilAllKnowIt: () => Promise.resolve(),
  })
  probeRoutes(app, { store, clock, registry, scheduler, publicUrl: null })
  return Object.assign(new Management(app, clock), { node })
}

const SITE = { tag_server_url: 'https://sgtm.example' }

const created = <T>({ status, body }: Answer<T>): T => {
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

testOnEveryEngine(
  'a probe says that it, its site or its client is paused, and that it does not run',
  async (store, t) => {
    const api = await openApi(store, t)
    const site = await insertSite(store)
    const body = { site_id: site.id, probe_type: 'plain' }
    const { id, next_run_at } = created(await api.call<ProbeRecord>('POST', '/api/probes', body))
    const path = `/api/probes/${id}`
    const said = async () => {
      const one = await api.get<ProbeRecord>(path)
      const [listed] = await api.get<ProbeRecord[]>(`/api/probes?site_id=${site.id}`)
      assert.deepEqual(listed, one)
      return [one.is_active, one.paused_by, one.next_run_at]
    }
    assert.deepEqual(await said(), [true, null, next_run_at])
    await api.patch(`/api/clients/${site.client_id}`, { is_active: false })
    assert.deepEqual(await said(), [true, 'client', null])
    await api.patch(`/api/sites/${site.id}`, { is_active: false })
    assert.deepEqual(await said(), [true, 'site', null])
    const { body: paused } = await api.call<ProbeRecord>('PATCH', path, { is_active: false })
    assert.deepEqual([paused.paused_by, paused.next_run_at], ['probe', null])
    assert.deepEqual(await said(), [false, 'probe', null])
    const { body: active } = await api.call<ProbeRecord>('PATCH', path, { is_active: true })
    assert.equal(active.paused_by, 'site')
    const second = created(await api.call<ProbeRecord>('POST', '/api/probes', body))
    assert.equal(second.paused_by, 'site')
  },
)

testOnEveryEngine('a probe is created with the defaults of its type, read, listed and deleted', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store, SITE)
  const probe = created(await api.call<ProbeRecord>('POST', '/api/probes', { site_id: site.id, probe_type: 'needy' }))
  assert.deepEqual(
    { ...probe, id: null, next_run_at: null },
    {
      id: null,
      site_id: site.id,
      probe_type: 'needy',
      name: 'Needy check',
      config: { low: 5, high: 10 },
      secrets_set: [],
      secret_fingerprints: {},
      interval_seconds: 1_800,
      timeout_ms: 10_000,
      failure_threshold: 1,
      recovery_threshold: 1,
      is_active: true,
      created_at: '2026-11-20T10:00:01.000Z',
      next_run_at: null,
      paused_by: null,
      last_status: null,
      judged: false,
      reason: null,
      last_message: null,
      last_response_time_ms: null,
      last_result_at: null,
      consecutive_failures: 0,
    },
  )
  const path = `/api/probes/${probe.id}`
  assert.deepEqual(await api.get(path), probe)
  const other = await insertSite(store)
  const second = created(await api.call<ProbeRecord>('POST', '/api/probes', { site_id: other.id, probe_type: 'plain' }))
  assert.deepEqual(await api.get('/api/probes'), [probe, second])
  assert.deepEqual(await api.get(`/api/probes?site_id=${other.id}`), [second])
  assert.deepEqual(await api.get(`/api/probes?client_id=${other.client_id}`), [second])
  const page = await api.call('GET', '/api/probes?limit=1')
  assert.deepEqual([page.body, page.link], [[probe], `</api/probes?limit=1&after=${probe.id}>; rel="next"`])
  const last = await api.call('GET', `/api/probes?limit=1&after=${probe.id}`)
  assert.deepEqual([last.body, last.link], [[second], undefined])
  // Filters apply to what the page follows, too.
  assert.deepEqual(await api.get(`/api/probes?site_id=${other.id}&after=${probe.id}`), [second])
  await api.refused(400, 'GET', `/api/probes?after=${UNKNOWN_ID}`)
  await api.patch(`/api/sites/${other.id}`, { is_active: false })
  assert.deepEqual(await api.get('/api/probes?active_only=true'), [probe])
  assert.equal(await api.delete(path), null)
  for (const call of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/run`],
    ['GET', `${path}/results`],
  ] as Call[]) {
    await api.refused(404, ...call)
  }
  await api.refused(404, 'GET', `/api/probes/${UNKNOWN_ID}`)
  await api.refused(404, 'GET', '/api/probes/no-uuid')
})

testLogic('what is wrong with a new probe is said with its path', async (store, t) => {
  const api = await openApi(store, t)
  const { id } = await insertSite(store, SITE)
  const bare = await insertSite(store)
  const faults: [body: object, path: string, message: RegExp][] = [
    [{ site_id: id, probe_type: 'nope' }, '/probe_type', /must be one of plain, needy, by_hand_only/],
    [{ site_id: UNKNOWN_ID, probe_type: 'plain' }, '/site_id', /is not the id of a site/],
    [{ site_id: bare.id, probe_type: 'needy' }, '/site_id', /site without tag_server_url, which needy needs/],
    [{ site_id: id, probe_type: 'plain', interval_seconds: 29 }, '/interval_seconds', /at least 30/],
    [{ site_id: id, probe_type: 'plain', interval_seconds: 86_401 }, '/interval_seconds', /at most 86400/],
    [{ site_id: id, probe_type: 'needy', interval_seconds: 899 }, '/interval_seconds', /at least 900 for needy/],
    [{ site_id: id, probe_type: 'plain', timeout_ms: 99 }, '/timeout_ms', /at least 100/],
    [{ site_id: id, probe_type: 'needy', config: { low: 'x' } }, '/config/low', /must be a whole number/],
    [{ site_id: id, probe_type: 'needy', config: { low: 50 } }, '/config/low', /must be below high/],
    [{ site_id: id, probe_type: 'needy', config: { nope: 1 } }, '/config/nope', /is not a field/],
    [{ site_id: id, probe_type: 'plain', is_fast: true }, '/is_fast', /is not a field/],
    [{ probe_type: 'plain' }, '/site_id', /is required/],
  ]
  for (const [body, path, message] of faults) {
    const error: ErrorBody = await api.refused(400, 'POST', '/api/probes', body)
    assert.deepEqual(
      error.details.map((detail) => detail.path),
      [path],
      JSON.stringify(error),
    )
    assert.match(error.details[0]?.message ?? '', message)
  }
  assert.deepEqual(await api.get('/api/probes'), [])
})

testOnEveryEngine('a change names what changes; secrets go in and never come out', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store, SITE)
  const secret = 'top-secret-value'
  const config = { low: 2, api_token: secret }
  const body = { site_id: site.id, probe_type: 'needy', name: ' Mine ', config }
  const probe = created(await api.call<ProbeRecord>('POST', '/api/probes', body))
  const path = `/api/probes/${probe.id}`
  assert.deepEqual([probe.name, probe.config, probe.secrets_set], ['Mine', { low: 2, high: 10 }, ['api_token']])
  const patched = await api.patch<ProbeRecord>(path, { config: { low: null, high: 20 }, interval_seconds: 3_600 })
  assert.deepEqual([patched.config, patched.secrets_set], [{ low: 5, high: 20 }, ['api_token']])
  assert.deepEqual(await api.patch(path, {}), patched)
  await api.refused(400, 'PATCH', path, { config: { high: 1 } })
  await api.refused(400, 'PATCH', path, { interval_seconds: 60 })
  await api.refused(400, 'PATCH', path, { probe_type: 'plain' })
  const { api_token: before = '' } = patched.secret_fingerprints
  const another = await api.patch<ProbeRecord>(path, { config: { api_token: 'another-value' } })
  assert.match(before, /^[\w-]{16}$/)
  assert.notEqual(another.secret_fingerprints.api_token, before)
  const off = await api.patch<ProbeRecord>(path, { is_active: false, config: { api_token: null } })
  assert.deepEqual([off.is_active, off.next_run_at, off.secrets_set], [false, null, []])
  await store.write.updateTable('probes').set({ consecutive_failures: 1, recent_statuses: 'oc' }).execute()
  await api.patch(path, { is_active: true })
  const { consecutive_failures, recent_statuses } = await probeRow(store, probe.id)
  // One bad result before the pause and one after it are not two in a row.
  assert.deepEqual([consecutive_failures, recent_statuses], [0, ''])
  await api.delete(path)
  type Entry = { action: string; before: object | null; after: object | null }
  const entries = await api.get<Entry[]>(`/api/audit?entity_id=${probe.id}`)
  assert.deepEqual(
    entries.slice(2, 5).map(({ action, before, after }) => [action, before, after]),
    [
      ['probe.update', { is_active: true, 'config.api_token': '…' }, { is_active: false }],
      ['probe.update', { 'config.api_token': '…' }, { 'config.api_token': '… (another)' }],
      ['probe.update', { interval_seconds: 1_800, 'config.low': 2 }, { interval_seconds: 3_600, 'config.high': 20 }],
    ],
  )
  assert.deepEqual([entries[0]?.action, entries[5]?.action], ['probe.delete', 'probe.create'])
  assert.ok(!JSON.stringify(entries).includes(secret))
})

testLogic('a secret goes to no other host than it was given for, and is given again for another', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store)
  const config = { address: 'https://api.example/version', token: 'top-secret-value' }
  const body = { site_id: site.id, probe_type: 'asking', config }
  const path = `/api/probes/${created(await api.call<ProbeRecord>('POST', '/api/probes', body)).id}`
  const elsewhere = { address: 'https://elsewhere.example/version' }
  const refused = await api.refused(400, 'PATCH', path, { config: elsewhere })
  assert.deepEqual(refused.details, [
    { path: '/config/token', message: 'was set for another address: give it again, or null' },
  ])
  const same = await api.patch<ProbeRecord>(path, { config: { address: 'https://api.example/v2/version' } })
  assert.deepEqual(same.secrets_set, ['token'])
  const again = await api.patch<ProbeRecord>(path, { config: { ...elsewhere, token: 'another-value' } })
  assert.deepEqual([again.config, again.secrets_set], [elsewhere, ['token']])
  const without = await api.patch<ProbeRecord>(path, { config: { ...config, token: null } })
  assert.deepEqual(without.secrets_set, [])
  assert.deepEqual((await api.patch<ProbeRecord>(path, { config: elsewhere })).config, elsewhere)
})

testLogic('a secret that a type needs is asked for, replaced, and not removed', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store)
  const body = { site_id: site.id, probe_type: 'keyed' }
  const missing = await api.refused(400, 'POST', '/api/probes', body)
  assert.deepEqual(missing.details, [{ path: '/config/token', message: 'is required' }])
  const made = created(await api.call<ProbeRecord>('POST', '/api/probes', { ...body, config: { token: 'first-key' } }))
  const path = `/api/probes/${made.id}`
  assert.deepEqual([made.config, made.secrets_set], [{}, ['token']])
  await api.patch(path, { name: 'Renamed' })
  await api.patch(path, { config: { token: 'second-key' } })
  const removed = await api.refused(400, 'PATCH', path, { config: { token: null } })
  const kept = await api.get<ProbeRecord>(path)
  assert.deepEqual([kept.name, kept.secrets_set], ['Renamed', ['token']])
  const shown = JSON.stringify([missing, made, removed, kept, await api.get(`/api/audit?entity_id=${made.id}`)])
  assert.doesNotMatch(shown, /(first|second)-key/)
})

testLogic('a probe is run by hand six times a minute, and another is not held up by it', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store)
  const make = async () =>
    created(await api.call<ProbeRecord>('POST', '/api/probes', { site_id: site.id, probe_type: 'plain' })).id
  const [one, other] = [await make(), await make()]
  const run = (id: string) => api.call<{ message: string }>('POST', `/api/probes/${id}/run`)
  for (let n = 0; n < 6; n++) assert.equal((await run(one)).status, 200)
  const { status, body } = await run(one)
  assert.equal(status, 429)
  assert.match(body.message, /^At most 6 runs of a probe by hand a minute: wait \d+ s$/)
  assert.equal((await run(other)).status, 200)
})

testOnEveryEngine('results that say the same as the one before can be left out of the list', async (store, t) => {
  const api = await openApi(store, t)
  const probe = await insertProbe(store, (await insertSite(store)).id)
  const other = await insertProbe(store, (await insertSite(store)).id)
  const found = ['ok', 'ok', 'ok no_data', 'ok no_data', 'critical', 'critical', 'warning', 'ok', 'ok']
  const rows = found.flatMap((text, n) => {
    const [status = '', reason = null] = text.split(' ')
    const at = NOW + n * MINUTE
    return [
      { ...newResultRow(probe.id, at), status, reason, message: `${n}` },
      newResultRow(other.id, at, { status: n % 2 === 0 ? 'ok' : 'error' }),
    ]
  })
  await store.write.insertInto('probe_results').values(rows).execute()
  const path = `/api/probes/${probe.id}/results?changes=true`
  const shown = (results: readonly ResultRecord[]) => results.map(({ message }) => message)
  const all = await api.get<ResultRecord[]>(path)
  assert.deepEqual(shown(all), ['7', '6', '4', '2', '0'])
  const page = await api.call<ResultRecord[]>('GET', `${path}&limit=2`)
  assert.deepEqual(shown(page.body), ['7', '6'])
  assert.equal(page.link, `<${path}&limit=2&before=${all[1]?.id}>; rel="next"`)
  // The page begins with a change of the whole list: what came before it is known.
  assert.deepEqual(shown(await api.get(`${path}&before=${all[1]?.id}`)), ['4', '2', '0'])
  assert.equal((await api.get<ResultRecord[]>(`/api/probes/${probe.id}/results?changes=false`)).length, found.length)
  await api.refused(400, 'GET', `/api/probes/${probe.id}/results?changes=some`)
})

testOnEveryEngine('a run by hand returns its result, which is listed like any other', async (store, t) => {
  const api = await openApi(store, t)
  const site = await insertSite(store)
  const probe = created(await api.call<ProbeRecord>('POST', '/api/probes', { site_id: site.id, probe_type: 'plain' }))
  const path = `/api/probes/${probe.id}`
  const results: ResultRecord[] = []
  for (let n = 0; n < 3; n++) {
    const { status, body } = await api.call<ResultRecord>('POST', `${path}/run`)
    assert.equal(status, 200, JSON.stringify(body))
    results.unshift(body)
  }
  const [newest, middle, oldest] = results
  assert.deepEqual(
    { ...newest, id: null },
    {
      id: null,
      probe_id: probe.id,
      status: 'ok',
      judged: true,
      reason: null,
      message: 'all is well',
      response_time_ms: 3,
      details: { seen: [1, 'two', null] },
      attempts: 1,
      executed_at: '2026-11-20T10:00:04.000Z',
      maintenance_id: null,
    },
  )
  assert.deepEqual(await api.get(`${path}/results`), results)
  const page = await api.call<ResultRecord[]>('GET', `${path}/results?limit=2`)
  assert.deepEqual(page.body, [newest, middle])
  assert.equal(page.link, `<${path}/results?limit=2&before=${middle?.id}>; rel="next"`)
  assert.deepEqual(await api.get(`${path}/results?limit=2&before=${middle?.id}`), [oldest])
  assert.deepEqual(await api.get(`${path}/results?before=${newest?.executed_at}`), [middle, oldest])
  await api.refused(400, 'GET', `${path}/results?before=yesterday`)
  const after = await api.get<ProbeRecord>(path)
  assert.deepEqual(
    [after.last_status, after.last_message, after.last_result_at],
    ['ok', 'all is well', newest?.executed_at],
  )
  // Runs by hand leave the grid as it is.
  assert.equal((Date.parse(after.next_run_at ?? '') - Date.parse(probe.next_run_at ?? '')) % MINUTE, 0)
})

testLogic('auto_probes creates the probes that the filled fields allow', async (store, t) => {
  const api = await openApi(store, t)
  const client = await api.client()
  const typesOf = async (query: string, fields: object) => {
    const body = { client_id: client.id, name: 'Shop', url: 'https://shop.example', ...fields }
    const { id } = created(await api.call<{ id: string }>('POST', `/api/sites${query}`, body))
    return (await api.get<ProbeRecord[]>(`/api/probes?site_id=${id}`)).map(({ probe_type }) => probe_type).sort()
  }
  assert.deepEqual(await typesOf('', SITE), [])
  assert.deepEqual(await typesOf('?auto_probes=false', SITE), [])
  assert.deepEqual(await typesOf('?auto_probes=true', {}), ['plain'])
  assert.deepEqual(await typesOf('?auto_probes=true', SITE), ['needy', 'plain'])
})

testLogic('the probes of a deleted site or client are gone', async (store, t) => {
  const api = await openApi(store, t)
  const client = await api.client()
  for (const path of ['/api/sites', '/api/clients'] as const) {
    const site = await api.site(client)
    await api.call('POST', '/api/probes', { site_id: site.id, probe_type: 'plain' })
    assert.equal((await api.get<ProbeRecord[]>('/api/probes')).length, 1)
    await api.delete(`${path}/${path === '/api/sites' ? site.id : client.id}`)
    assert.deepEqual(await api.get('/api/probes'), [])
  }
})

testLogic('the types are described, with the schema of their settings', async (store, t) => {
  const api = await openApi(store, t)
  const types = await api.get<{ probe_type: string; config_schema: object }[]>('/api/probe-types')
  assert.deepEqual(types[1], {
    probe_type: 'needy',
    title: 'Needy check',
    description: 'What the test says.',
    kind: 'wire',
    site_fields: ['tag_server_url'],
    needs: [['tag_server_url']],
    default_interval_seconds: 1_800,
    min_interval_seconds: 900,
    config_schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        low: { type: 'integer', minimum: 1, maximum: 100, default: 5, description: 'Lower bound' },
        high: { type: 'integer', minimum: 1, maximum: 100, default: 10, description: 'Upper bound' },
        api_token: {
          type: 'string',
          minLength: 1,
          maxLength: 4_096,
          writeOnly: true,
          description: 'Key of the provider',
        },
      },
    },
  })
})

testLogic(
  'a viewer sees no query of an address that a probe asks, in its settings and in the audit log',
  async (store, t) => {
    const api = await openApi(store, t, true)
    const site = await insertSite(store)
    const config = { address: 'https://api.example/version?key=s3cret#s3cret', path: '/mp/collect?api_secret=s3cret' }
    const body = { site_id: site.id, probe_type: 'asking', config }
    const { id } = created(await api.call<ProbeRecord>('POST', '/api/probes', body, ADMIN))
    await api.patch(`/api/probes/${id}`, { config: { path: '/mp/collect?api_secret=another-s3cret' } }, ADMIN)
    for (const url of [`/api/probes/${id}`, '/api/probes', `/api/audit?entity_id=${id}`]) {
      assert.doesNotMatch(JSON.stringify(await api.get(url, VIEWER)), /s3cret/, url)
      assert.match(JSON.stringify(await api.get(url, ADMIN)), /another-s3cret/, url)
    }
    const seen = await api.get<ProbeRecord>(`/api/probes/${id}`, VIEWER)
    assert.deepEqual(seen.config, { address: 'https://api.example/version?…', path: '/mp/collect?…' })
  },
)

testLogic('a viewer reads probes and changes or runs none', async (store, t) => {
  const api = await openApi(store, t, true)
  const site = await insertSite(store)
  const body = { site_id: site.id, probe_type: 'plain' }
  const { id } = created(await api.call<ProbeRecord>('POST', '/api/probes', body, ADMIN))
  assert.equal((await api.get<ProbeRecord[]>('/api/probes', VIEWER)).length, 1)
  for (const [method, path] of [
    ['POST', '/api/probes'],
    ['PATCH', `/api/probes/${id}`],
    ['DELETE', `/api/probes/${id}`],
    ['POST', `/api/probes/${id}/run`],
  ] as const) {
    await api.refused(403, method, path, method === 'DELETE' || path.endsWith('run') ? undefined : body, VIEWER)
  }
  await api.refused(401, 'GET', '/api/probes')
})
