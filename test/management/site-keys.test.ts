import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { DAY } from '../../src/lib/index.ts'
import type { SiteKeyRecord, SiteRecord } from '../../src/management/index.ts'
import { writeKeyUses } from '../../src/management/index.ts'
import { siteKeys } from '../../src/store/migrations/0044-site-keys.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { ADMIN, type Management, openManagement, UNKNOWN_ID, VIEWER, WITH_KEYS } from './support.ts'

const keysUrl = ({ id }: { id: string }) => `/api/sites/${id}/keys`
const keysOf = (api: Management, site: { id: string }, token?: string) => api.get<SiteKeyRecord[]>(keysUrl(site), token)

async function made(api: Management, url: string, body?: object, token?: string): Promise<SiteKeyRecord> {
  const answer = await api.call<SiteKeyRecord>('POST', url, body, token)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

async function onlyKey(api: Management, site: { id: string }): Promise<SiteKeyRecord> {
  const [key, ...others] = await keysOf(api, site)
  assert.ok(key !== undefined && others.length === 0)
  return key
}

/** Names with states, the newest first. */
const states = async (api: Management, site: { id: string }) =>
  (await keysOf(api, site)).map(({ name, state }) => `${name} ${state}`)

testLogic('a new site has one key, which is the key of its record', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  assert.deepEqual(await onlyKey(api, site), {
    id: site.id,
    name: 'main',
    ingest_key: site.ingest_key,
    state: 'valid',
    created_at: site.created_at,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  })
})

testOnEveryEngine('a rotated key ends after a week, and the record has the new one at once', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const old = await onlyKey(api, site)
  api.takeChanges()
  const key = await made(api, `${keysUrl(site)}/${old.id}/rotate`)
  assert.deepEqual(api.takeChanges(), [{ kind: 'site', id: site.id }])
  assert.deepEqual([key.name, key.state, key.expires_at], ['main', 'valid', null])
  assert.notEqual(key.ingest_key, old.ingest_key)
  const [newest, replaced] = await keysOf(api, site)
  assert.deepEqual(newest, key)
  assert.equal(replaced?.state, 'expiring')
  assert.equal(Date.parse(replaced.expires_at ?? ''), Date.parse(key.created_at) + 7 * DAY)
  assert.deepEqual(await api.get(`/api/sites/${site.id}`), { ...site, ingest_key: key.ingest_key })
  assert.deepEqual(await api.get('/api/sites'), [{ ...site, ingest_key: key.ingest_key }])
  api.clock.advance(7 * DAY)
  assert.deepEqual(await states(api, site), ['main valid', 'main expired'])
})

testLogic('a key is rotated under another name, until a date of the caller', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const old_until = '2026-11-21T10:00:00.000Z'
  const key = await made(api, `${keysUrl(site)}/${site.id}/rotate`, { name: ' web container ', old_until })
  assert.equal(key.name, 'web container')
  assert.equal((await keysOf(api, site))[1]?.expires_at, old_until)
  for (const [wrong, message] of [
    ['2026-11-20T09:00:00.000Z', 'must be in the future: revoke the key to end it at once'],
    ['2028-11-20T09:00:00.000Z', 'must be within a year'],
  ]) {
    const { details } = await api.refused(400, 'POST', `${keysUrl(site)}/${key.id}/rotate`, { old_until: wrong })
    assert.deepEqual(details, [{ path: '/old_until', message }])
  }
  const again = await api.refused(409, 'POST', `${keysUrl(site)}/${site.id}/rotate`)
  assert.equal(again.message, 'The key “main” is already being replaced: rotate the key that replaces it')
})

testLogic('a site has at most three valid keys, and one that was revoked makes room', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const second = await made(api, keysUrl(site), { name: 'pipeline' })
  await made(api, keysUrl(site), { name: 'app' })
  for (const url of [keysUrl(site), `${keysUrl(site)}/${second.id}/rotate`]) {
    const { message } = await api.refused(409, 'POST', url, { name: 'more' })
    assert.equal(message, 'The site has 3 valid keys: revoke one first')
  }
  const revoked = await api.call<SiteKeyRecord>('POST', `${keysUrl(site)}/${second.id}/revoke`)
  assert.deepEqual([revoked.status, revoked.body.state], [200, 'revoked'])
  api.takeChanges()
  assert.deepEqual((await api.call('POST', `${keysUrl(site)}/${second.id}/revoke`)).body, revoked.body)
  assert.deepEqual(api.takeChanges(), [])
  await made(api, keysUrl(site), { name: 'more' })
  assert.deepEqual(await states(api, site), ['more valid', 'app valid', 'pipeline revoked', 'main valid'])
  const dead = await api.refused(409, 'POST', `${keysUrl(site)}/${second.id}/rotate`)
  assert.equal(dead.message, 'The key “pipeline” is revoked: add a new key')
})

testOnEveryEngine('callers at the same time get no fourth key', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => api.call('POST', keysUrl(site), { name: `key ${n}` })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409, 409])
})

testLogic('the record has the newest key that is valid, and says when none is', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const key = await made(api, `${keysUrl(site)}/${site.id}/rotate`)
  await api.call('POST', `${keysUrl(site)}/${key.id}/revoke`)
  assert.deepEqual(await api.get(`/api/sites/${site.id}`), site)
  api.clock.advance(7 * DAY)
  const ended = await api.get<SiteRecord>(`/api/sites/${site.id}`)
  assert.equal(ended.ingest_key, site.ingest_key)
  assert.equal(Date.parse(ended.key_revoked_at ?? ''), Date.parse(key.created_at) + 7 * DAY)
  const fresh = await made(api, keysUrl(site), { name: 'fresh' })
  assert.deepEqual(await api.get(`/api/sites/${site.id}`), { ...site, ingest_key: fresh.ingest_key })
})

testLogic('revoke-key revokes every valid key, and a new one opens the site again', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  await made(api, `${keysUrl(site)}/${site.id}/rotate`, { name: 'new' })
  const { status, body } = await api.call<SiteRecord>('POST', `/api/sites/${site.id}/revoke-key`)
  assert.equal(status, 200)
  assert.notEqual(body.key_revoked_at, null)
  assert.deepEqual(await states(api, site), ['new revoked', 'main revoked'])
  const fresh = await made(api, keysUrl(site), { name: 'fresh' })
  const after = await api.get<SiteRecord>(`/api/sites/${site.id}`)
  assert.deepEqual([after.ingest_key, after.key_revoked_at], [fresh.ingest_key, null])
})

testOnEveryEngine('a key is renamed, and the end of one that is being replaced moves', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const url = `${keysUrl(site)}/${site.id}`
  const renamed = await api.patch<SiteKeyRecord>(url, { name: ' shop ' })
  assert.deepEqual([renamed.name, renamed.expires_at], ['shop', null])
  const expires_at = '2026-12-20T10:00:00.000Z'
  const refused = await api.refused(409, 'PATCH', url, { expires_at })
  assert.equal(refused.message, 'The key “shop” has no end to change: rotate or revoke it')
  await made(api, `${url}/rotate`)
  assert.equal((await api.patch<SiteKeyRecord>(url, { expires_at })).expires_at, expires_at)
  assert.equal((await api.patch<SiteKeyRecord>(url, { expires_at: null })).state, 'valid')
  await api.call('POST', `${url}/revoke`)
  const over = await api.refused(409, 'PATCH', url, { expires_at })
  assert.equal(over.message, 'The key “shop” is revoked: add a new key')
})

testOnEveryEngine('ended keys are kept until ten others have ended after them', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const { site_no } = await store.read.selectFrom('sites').select('site_no').executeTakeFirstOrThrow()
  await writeKeyUses(store, [{ siteNo: site_no, keyId: site.id, at: 5 }])
  await api.call('POST', `${keysUrl(site)}/${site.id}/revoke`)
  for (let n = 0; n < 10; n++) {
    const { id } = await made(api, keysUrl(site), { name: `key ${n}` })
    await api.call('POST', `${keysUrl(site)}/${id}/revoke`)
  }
  const names = (await keysOf(api, site)).map(({ name }) => name)
  assert.equal(names.length, 10)
  assert.ok(!names.includes('main'))
  assert.deepEqual(await store.read.selectFrom('site_key_uses').selectAll().execute(), [])
})

testOnEveryEngine('the last use is the latest that any node has seen', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const { site_no } = await store.read.selectFrom('sites').select('site_no').executeTakeFirstOrThrow()
  const at = Date.parse('2026-11-20T09:59:00.000Z')
  for (const time of [at - 5_000, at, at - 1_000]) {
    await writeKeyUses(store, [{ siteNo: site_no, keyId: site.id, at: time }])
  }
  assert.equal((await onlyKey(api, site)).last_used_at, '2026-11-20T09:59:00.000Z')
})

testLogic('a viewer sees the keys of a site without the keys themselves, and changes none', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const site = await api.site(await api.client({}, ADMIN), {}, ADMIN)
  const [key] = await keysOf(api, site, VIEWER)
  assert.deepEqual([key?.name, key?.ingest_key], ['main', null])
  for (const url of [keysUrl(site), `${keysUrl(site)}/${site.id}/rotate`, `${keysUrl(site)}/${site.id}/revoke`]) {
    await api.refused(403, 'POST', url, { name: 'mine' }, VIEWER)
  }
})

testLogic('keys of another site, and of none, are not found', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [site, other] = [await api.site(client), await api.site(client)]
  for (const [at, id] of [
    [site, other.id],
    [site, UNKNOWN_ID],
    [{ id: UNKNOWN_ID }, site.id],
  ] as const) {
    await api.refused(404, 'POST', `${keysUrl(at)}/${id}/rotate`)
    await api.refused(404, 'POST', `${keysUrl(at)}/${id}/revoke`)
    await api.refused(404, 'PATCH', `${keysUrl(at)}/${id}`, { name: 'x' })
  }
  await api.refused(404, 'GET', keysUrl({ id: UNKNOWN_ID }))
  await api.refused(400, 'POST', keysUrl(site), { name: ' ' })
})

testLogic('the audit log says what happened to which key, and shows none', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const key = await made(api, `${keysUrl(site)}/${site.id}/rotate`, {
    name: 'web',
    old_until: '2026-11-21T10:00:00.000Z',
  })
  await api.call('POST', `${keysUrl(site)}/${key.id}/revoke`)
  const entries = await api.get<{ action: string; entity_id: string; after: object }[]>('/api/audit')
  const [revoked, rotated] = entries
  assert.deepEqual(
    [rotated?.action, rotated?.entity_id, rotated?.after],
    [
      'site.rotate_key',
      site.id,
      { key: 'web', ingest_key: '…', old_key: 'main', old_key_expires_at: '2026-11-21T10:00:00.000Z' },
    ],
  )
  assert.deepEqual(
    [revoked?.action, revoked?.after],
    ['site.revoke_key', { key: 'web', revoked_at: '2026-11-20T10:00:04.000Z' }],
  )
  const text = JSON.stringify(entries)
  for (const secret of [key.ingest_key, site.ingest_key]) assert.ok(!text.includes(String(secret)))
})

testLogic("a deleted site's keys are gone", async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  await made(api, keysUrl(site), { name: 'more' })
  await api.delete(`/api/sites/${site.id}`)
  assert.deepEqual(await store.read.selectFrom('site_keys').selectAll().execute(), [])
})

testOnEveryEngine('the upgrade gives every site its key, revoked where it was', async (store) => {
  const open = await insertSite(store, { created_at: 5 })
  const revoked = await insertSite(store, { created_at: 6, key_revoked_at: 7 })
  const copies = siteKeys.statements(store.columnTypes).filter((text) => text.startsWith('insert'))
  assert.equal(copies.length, 1)
  for (const text of copies) await sql.raw(text).execute(store.write)
  const rows = await store.read.selectFrom('site_keys').selectAll().orderBy('created_at').execute()
  assert.deepEqual(
    rows.map(({ id, site_id, name, ingest_key, expires_at, revoked_at }) => [
      [id, site_id, name, ingest_key],
      [expires_at, revoked_at],
    ]),
    [
      [
        [open.id, open.id, 'main', open.ingest_key],
        [null, null],
      ],
      [
        [revoked.id, revoked.id, 'main', revoked.ingest_key],
        [null, 7],
      ],
    ],
  )
})
