import assert from 'node:assert/strict'
import { AppError } from '../../src/lib/index.ts'
import { clientOfStatusLink, type StatusLinkRecord } from '../../src/management/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { ADMIN, openManagement, UNKNOWN_ID, VIEWER, WITH_KEYS } from './support.ts'

const addressOf = ({ id }: { id: string }) => `/api/clients/${id}/status-link`
const NONE = { is_active: false, token: null, url: null, created_at: null, created_by: null }
const isNotFound = (thrown: unknown): boolean => thrown instanceof AppError && thrown.code === 'not_found'

testLogic('a link is made once, opens its client, and is given again when asked for again', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const [acme, other] = [await api.client({}, ADMIN), await api.client({ name: 'Other' }, ADMIN)]
  assert.deepEqual(await api.get(addressOf(acme), ADMIN), { client_id: acme.id, ...NONE })
  const made = await api.call<StatusLinkRecord>('POST', addressOf(acme), undefined, ADMIN)
  assert.equal(made.status, 201)
  const { token } = made.body
  assert.match(String(token), /^[\w-]{43}$/)
  assert.deepEqual(made.body, {
    client_id: acme.id,
    is_active: true,
    token,
    url: null,
    created_at: '2026-11-20T10:00:04.000Z',
    created_by: 'admin',
  })
  assert.deepEqual(await api.call('POST', addressOf(acme), undefined, ADMIN), { ...made, status: 200 })
  assert.deepEqual(await api.get(addressOf(acme), ADMIN), made.body)
  assert.equal((await api.get<StatusLinkRecord>(addressOf(other), ADMIN)).is_active, false)
  assert.deepEqual(await clientOfStatusLink(store.read, String(token)), { id: acme.id, name: 'Acme' })
})

testLogic('a revoked link opens nothing, and the next one is another', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  await api.refused(404, 'DELETE', addressOf(client))
  const { body: first } = await api.call<StatusLinkRecord>('POST', addressOf(client))
  await api.delete(addressOf(client))
  await assert.rejects(clientOfStatusLink(store.read, String(first.token)), isNotFound)
  assert.deepEqual(await api.get(addressOf(client)), { client_id: client.id, ...NONE })
  const { body: second, status } = await api.call<StatusLinkRecord>('POST', addressOf(client))
  assert.equal(status, 201)
  assert.notEqual(second.token, first.token)
  await assert.rejects(clientOfStatusLink(store.read, String(first.token)), isNotFound)
})

testLogic('a link rests with its client, and is deleted with it', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const { body } = await api.call<StatusLinkRecord>('POST', addressOf(client))
  const open = () => clientOfStatusLink(store.read, String(body.token))
  await api.patch(`/api/clients/${client.id}`, { is_active: false })
  await assert.rejects(open(), isNotFound)
  await api.patch(`/api/clients/${client.id}`, { is_active: true })
  assert.equal((await open()).id, client.id)
  await api.delete(`/api/clients/${client.id}`)
  await assert.rejects(open(), isNotFound)
  assert.deepEqual(await store.read.selectFrom('status_links').selectAll().execute(), [])
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    await api.refused(404, method, addressOf(client))
    await api.refused(404, method, addressOf({ id: UNKNOWN_ID }))
  }
})

testOnEveryEngine('two that share at once get the same link', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => api.call<StatusLinkRecord>('POST', addressOf(client))),
  )
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 201])
  assert.equal(new Set(answers.map(({ body }) => body.token)).size, 1)
})

testLogic('a viewer sees that there is a link and not which, and can neither make nor revoke one', async (store, t) => {
  const api = await openManagement(store, t, WITH_KEYS)
  const client = await api.client({}, ADMIN)
  await api.refused(403, 'POST', addressOf(client), undefined, VIEWER)
  const { body } = await api.call<StatusLinkRecord>('POST', addressOf(client), undefined, ADMIN)
  await api.refused(403, 'DELETE', addressOf(client), undefined, VIEWER)
  assert.deepEqual(await api.get(addressOf(client), VIEWER), { ...body, token: null })
  await api.refused(401, 'GET', addressOf(client))
})

testLogic('who shared and who revoked is written down, without the token', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const { body } = await api.call<StatusLinkRecord>('POST', addressOf(client))
  await api.call('POST', addressOf(client))
  await api.delete(addressOf(client))
  const entries = await api.get<Record<string, unknown>[]>(`/api/audit?entity_id=${client.id}&limit=2`)
  assert.deepEqual(
    entries.map(({ action, entity, before, after }) => ({ action, entity, before, after })),
    [
      {
        action: 'status_link.revoke',
        entity: 'status_link',
        before: { token: '…', created_by: 'anonymous' },
        after: null,
      },
      {
        action: 'status_link.create',
        entity: 'status_link',
        before: null,
        after: { token: '…', created_by: 'anonymous' },
      },
    ],
  )
  const rows = JSON.stringify(await store.read.selectFrom('audit_log').selectAll().execute())
  assert.ok(!rows.includes(String(body.token)))
})
