import assert from 'node:assert/strict'
import type { AuditRecord, ClientRecord } from '../../src/management/index.ts'
import type { OwnChannelRecord, TestResult } from '../../src/notifications/index.ts'
import { logicEngines, testPerEngine } from '../../testkit/engines.ts'
import { ADMIN, stage, VIEWER } from './api-support.ts'

testPerEngine(
  'the chat webhook and e-mail of a client are channels of it, and each side changes the other',
  async (engine, t) => {
    const { call, newClient, hookUrl, received } = await stage(t, engine)
    const client = await newClient({
      chat_webhook: 'https://hooks.slack.com/services/T/B/secret',
      email: 'a@x.example',
    })
    const path = `/api/clients/${client.id}/channels`
    const added = await call('POST', path, { kind: 'webhook', name: 'Ours', address: `${hookUrl}/ours` })
    assert.equal(added.status, 201, added.text)
    const list = async () =>
      (await call('GET', path))
        .json<OwnChannelRecord[]>()
        .map(({ id, field, kind, name, address }) => [field === id ? id : 'own', kind, name, address])
    const own = ['own', 'webhook', 'Ours', `${new URL(hookUrl).origin}/…`]
    assert.deepEqual(await list(), [
      ['chat_webhook', 'chat', 'Chat webhook', 'https://hooks.slack.com/…'],
      ['email', 'email', 'E-mail', 'a@x.example'],
      own,
    ])

    const patched = await call('PATCH', `${path}/chat_webhook`, { address: ` ${hookUrl} ` })
    assert.equal(patched.status, 200, patched.text)
    assert.equal((await call('PATCH', `${path}/email`, { address: 'b@x.example, c@x.example' })).status, 200)
    const now = (await call('GET', `/api/clients/${client.id}`)).json<ClientRecord>()
    assert.deepEqual([now.chat_webhook, now.email], [hookUrl, 'b@x.example, c@x.example'])
    const test = (await call('POST', `${path}/chat_webhook/test`)).json<TestResult[]>()
    assert.deepEqual(
      test.map(({ channel, delivered }) => [channel, delivered]),
      [[`chat:${client.id}`, true]],
    )
    assert.equal(received.length, 1)

    assert.equal((await call('DELETE', `${path}/email`)).status, 204)
    assert.equal((await call('PATCH', `/api/clients/${client.id}`, { chat_webhook: null })).status, 200)
    assert.deepEqual(await list(), [own])
    assert.equal((await call('GET', `/api/clients/${client.id}`)).json<ClientRecord>().email, null)
    const actions = (await call('GET', '/api/audit')).json<AuditRecord[]>().map(({ action }) => action)
    assert.equal(actions.filter((action) => action === 'client.update').length, 4)
  },
  logicEngines,
)

testPerEngine(
  'of a field of the client the address alone can be changed',
  async (engine, t) => {
    const tokens = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER }
    const api = await stage(t, engine, tokens)
    const call = (method: string, path: string, body?: object, token = ADMIN) =>
      api.call(method, path, body, { authorization: `Bearer ${token}` })
    const fields = { name: 'ACME', chat_webhook: `${api.hookUrl}/token` }
    const client = (await call('POST', '/api/clients', fields)).json<{ id: string }>()
    const path = `/api/clients/${client.id}/channels`
    const [chat] = (await call('GET', path)).json<OwnChannelRecord[]>()
    const { name, minimum_severity, is_active } = chat ?? {}
    const REFUSED = [
      [400, 'PATCH', 'chat_webhook', { minimum_severity: 'critical' }],
      [400, 'PATCH', 'chat_webhook', { is_active: false }],
      [400, 'PATCH', 'chat_webhook', { name: 'Another' }],
      [400, 'PATCH', 'chat_webhook', { address: 'no address' }],
      [404, 'PATCH', 'email', { address: 'a@x.example' }],
      [404, 'DELETE', 'email', undefined],
      [404, 'POST', 'email/test', undefined],
    ] as const
    for (const [status, method, at, body] of REFUSED) {
      const answer = await call(method, `${path}/${at}`, body)
      assert.equal(answer.status, status, `${method} ${at} ${JSON.stringify(body)}`)
    }
    const same = await call('PATCH', `${path}/chat_webhook`, { name, minimum_severity, is_active })
    assert.equal(same.status, 200, 'what is as it was is no change')
    assert.equal((await call('DELETE', `${path}/chat_webhook`, undefined, VIEWER)).status, 403)
    const [seen] = (await call('GET', path, undefined, VIEWER)).json<OwnChannelRecord[]>()
    assert.deepEqual([seen?.kind, seen?.address], ['webhook', null])
  },
  logicEngines,
)
