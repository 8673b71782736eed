import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditedChange, clearAudit, type Fields, withoutPersonalFields } from '../../src/management/audit.ts'
import { chunksOf } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { ADMIN, type Management, openManagement, WITH_KEYS } from './support.ts'

interface Entry {
  id: number
  at: string
  actor: string
  action: string
  entity: string
  entity_id: string
  before: Fields | null
  after: Fields | null
}

const CHANGES: [
  title: string,
  before: Fields | null,
  after: Fields | null,
  kept: { before: unknown; after: unknown },
][] = [
  ['a creation keeps what is set', null, { a: 1, b: null, c: false }, { before: null, after: { a: 1, c: false } }],
  ['a deletion keeps what was set', { a: 1, b: null }, null, { before: { a: 1 }, after: null }],
  [
    'an update keeps what differs',
    { a: 1, b: 2, c: null },
    { a: 1, b: 3, c: 'x' },
    { before: { b: 2, c: null }, after: { b: 3, c: 'x' } },
  ],
  ['an ingest key is masked', null, { ingest_key: 'secret' }, { before: null, after: { ingest_key: '…' } }],
  [
    'a webhook keeps its host only',
    { chat_webhook: 'https://user:secret@hooks.example:8443/T0/secret?key=secret' },
    { chat_webhook: null },
    { before: { chat_webhook: 'https://hooks.example:8443/…' }, after: { chat_webhook: null } },
  ],
]
for (const [title, before, after, kept] of CHANGES) {
  test(`in the audit log ${title}`, () => assert.deepEqual(auditedChange(before, after), kept))
}

test('a viewer sees that addresses changed, not what they are', () => {
  assert.deepEqual(
    withoutPersonalFields({
      before: { email: 'a@b.example', name: 'x', endpoint: 'https://relay.example/events?key=secret' },
      after: { email: null, chat_webhook: 'https://hooks.example/…', ingest_key: '…', name: 'y', endpoint: null },
    }),
    {
      before: { email: null, name: 'x', endpoint: null },
      after: { email: null, chat_webhook: null, ingest_key: null, name: 'y', endpoint: null },
    },
  )
})

testOnEveryEngine('every change leaves who, when and what', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const webhook = 'https://hooks.example/T0/secret'
  const client = await api.client({ email: 'ops@acme.example', chat_webhook: webhook }, ADMIN)
  const site = await api.site(client, {}, ADMIN)
  await api.patch(`/api/clients/${client.id}`, { name: 'New', email: null, plan: 'pro' }, ADMIN)
  await api.patch(`/api/sites/${site.id}`, { is_active: false, cmp_provider: 'cookiebot' }, ADMIN)
  await api.call('POST', `/api/sites/${site.id}/revoke-key`, undefined, ADMIN)
  await api.delete(`/api/clients/${client.id}`, ADMIN)
  const entries = await api.get<Entry[]>('/api/audit', ADMIN)
  assert.deepEqual(
    entries.map(({ action, at }) => `${at.slice(17, 19)} ${action}`),
    [
      '06 client.delete',
      '06 site.delete',
      '05 site.revoke_key',
      '04 site.update',
      '03 client.update',
      '02 site.create',
      '01 client.create',
    ],
  )
  const [clientDelete, siteDelete, revoke, siteUpdate, clientUpdate, siteCreate, clientCreate] = entries
  const about = (entry: Entry | undefined) => [entry?.before, entry?.after]
  assert.deepEqual(
    { ...clientCreate, after: null },
    {
      id: clientCreate?.id,
      at: '2026-11-20T10:00:01.000Z',
      actor: 'admin',
      action: 'client.create',
      client_id: client.id,
      entity: 'client',
      entity_id: client.id,
      entity_name: null,
      before: null,
      after: null,
    },
  )
  assert.deepEqual(clientCreate?.after, {
    id: client.id,
    name: 'Acme',
    email: 'ops@acme.example',
    chat_webhook: 'https://hooks.example/…',
    is_active: true,
    plan: 'free',
    notify_resolved: true,
    notify_escalated: true,
    digest: 'off',
    created_at: client.created_at,
  })
  assert.deepEqual(about(clientUpdate), [
    { name: 'Acme', email: 'ops@acme.example', plan: 'free' },
    { name: 'New', email: null, plan: 'pro' },
  ])
  assert.deepEqual(about(siteUpdate), [
    { is_active: true, cmp_provider: null },
    { is_active: false, cmp_provider: 'cookiebot' },
  ])
  assert.deepEqual(about(revoke), [{ key_revoked_at: null }, { key_revoked_at: '2026-11-20T10:00:05.000Z' }])
  assert.equal(siteCreate?.entity_id, site.id)
  assert.equal(siteDelete?.before?.name, 'Shop')
  assert.equal(clientDelete?.before?.name, 'New')
  const text = JSON.stringify(entries)
  assert.ok(!text.includes('T0/secret'))
  assert.ok(!text.includes(String(site.ingest_key)))
})

testOnEveryEngine('what changed nothing or was refused leaves no trace', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const site = await api.site(client)
  await api.call('POST', `/api/sites/${site.id}/revoke-key`)
  const before = await api.get<Entry[]>('/api/audit')
  assert.equal(before[0]?.actor, 'anonymous')
  await api.patch(`/api/clients/${client.id}`, {})
  await api.patch(`/api/clients/${client.id}`, { name: client.name })
  await api.patch(`/api/sites/${site.id}`, { url: site.url })
  await api.call('POST', `/api/sites/${site.id}/revoke-key`)
  await api.refused(400, 'PATCH', `/api/clients/${client.id}`, { requests_per_second: 5 })
  await api.refused(404, 'DELETE', '/api/sites/00000000-0000-4000-8000-000000000000')
  assert.deepEqual(await api.get('/api/audit'), before)
})

async function manyChanges(api: Management, count: number): Promise<string> {
  const client = await api.client()
  for (let n = 1; n < count; n++) await api.patch(`/api/clients/${client.id}`, { name: `name ${n}` })
  return client.id
}

testOnEveryEngine('the audit log is paged by the links it gives', async (store, t) => {
  const api = await openManagement(store, t)
  const id = await manyChanges(api, 5)
  await api.client({ name: 'other' })
  const seen: number[] = []
  let url: string | undefined = `/api/audit?entity_id=${id}&limit=2`
  const sizes: number[] = []
  while (url !== undefined) {
    const page: { body: Entry[]; link: string | undefined } = await api.call<Entry[]>('GET', url)
    assert.ok(page.body.every((entry) => entry.entity_id === id))
    sizes.push(page.body.length)
    seen.push(...page.body.map((entry) => entry.id))
    url = /^<([^>]+)>; rel="next"$/.exec(page.link ?? '')?.[1]
  }
  assert.deepEqual(sizes, [2, 2, 1])
  assert.deepEqual(
    seen,
    [...seen].sort((a, b) => b - a),
  )
  assert.equal(new Set(seen).size, 5)
})

testOnEveryEngine('the audit log can be read from an entry or a time backwards', async (store, t) => {
  const api = await openManagement(store, t)
  await manyChanges(api, 4)
  const [, second] = await api.get<Entry[]>('/api/audit')
  assert.ok(second)
  for (const before of [String(second.id), second.at, second.at.replace('.000Z', 'Z')]) {
    const older = await api.get<Entry[]>(`/api/audit?before=${before}`)
    assert.deepEqual(
      older.map(({ at }) => at.slice(17, 19)),
      ['02', '01'],
      before,
    )
  }
})

testOnEveryEngine(
  'the changes of a stretch of time are found by their times, also where the clock was set back',
  async (store, t) => {
    const api = await openManagement(store, t)
    const change = { action: 'alert.note', entity: 'alert', entity_id: 'x', before: null, after: '{}' }
    const at = ['10:00', '11:00', '10:30', '12:00'].map((time) => Date.parse(`2026-11-20T${time}:00Z`))
    const rows = at.map((time) => ({ ...change, at: time, actor: 'Ada' }))
    await store.write.insertInto('audit_log').values(rows).execute()
    const times = async (query: string) =>
      (await api.get<Entry[]>(`/api/audit?${query}`)).map((entry) => entry.at.slice(11, 16))
    assert.deepEqual(await times('actor=Ada&from=2026-11-20T10:15:00Z'), ['12:00', '10:30', '11:00'])
    assert.deepEqual(await times('actor=Ada&to=2026-11-20T11:00:00Z'), ['10:30', '10:00'])
    assert.deepEqual(await times('before=2026-11-20T11:30:00Z&from=2026-11-20T10:30:00Z'), ['10:30', '11:00'])
    assert.deepEqual(await times('from=2026-12-20T10:30:00Z'), [])
    assert.deepEqual(await times('actor=Bob'), [])
  },
)

testOnEveryEngine('of the audit log what is older is deleted, however many entries it is', async (store) => {
  const change = { actor: 'Ada', action: 'alert.note', entity: 'alert', entity_id: 'x', before: null, after: '{}' }
  const rows = Array.from({ length: 2_300 }, (_, n) => ({ ...change, at: n + 1 }))
  for (const chunk of chunksOf(rows)) await store.write.insertInto('audit_log').values(chunk).execute()
  await clearAudit(store, 2_300, () => true)
  assert.deepEqual(await store.read.selectFrom('audit_log').select('at').execute(), [{ at: 2_300 }])
})

testOnEveryEngine('a page holds 100 entries by default', async (store, t) => {
  const api = await openManagement(store, t)
  const row = {
    at: 1,
    actor: 'x',
    action: 'client.update',
    entity: 'client',
    entity_id: 'x',
    before: null,
    after: '{}',
  }
  await store.write
    .insertInto('audit_log')
    .values(Array.from({ length: 101 }, () => row))
    .execute()
  const page = await api.call<Entry[]>('GET', '/api/audit')
  assert.equal(page.body.length, 100)
  assert.match(String(page.link), /rel="next"/)
  const whole = await api.call<Entry[]>('GET', '/api/audit?limit=101')
  assert.equal(whole.body.length, 101)
  assert.equal(whole.link, undefined)
})

testLogic('the audit log knows its parameters', async (store, t) => {
  const api = await openManagement(store, t)
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'before=yesterday',
    'before=',
    'before=-1',
    'entity_id=nope',
    'x=1',
  ]) {
    const { error, details } = await api.refused(400, 'GET', `/api/audit?${query}`)
    assert.equal(error, 'invalid_request')
    assert.equal(details[0]?.path, `/${query.split('=')[0]}`)
  }
})
