import assert from 'node:assert/strict'
import type { InvitedUser, NewApiToken, SessionRecord } from '../../src/accounts/index.ts'
import type { AuditRecord } from '../../src/management/index.ts'
import type { ApiClient } from '../../testkit/api.ts'
import { testPerEngine } from '../../testkit/engines.ts'
import { join, openAccounts, signIn } from './support.ts'

testPerEngine(
  'the owner of a client reads who got and lost a role or a token for it, and nothing about others',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const [a, b] = [await admin.newClient({ name: 'A' }), await admin.newClient({ name: 'B' })]
    const [ofA, ofB] = [a, b].map(({ id }) => ({ client_id: id, role: 'owner' as const }))
    assert.ok(ofA !== undefined && ofB !== undefined)
    await join(admin, 'a@agency.example', [ofA])
    await join(admin, 'both@agency.example', [ofA, ofB])
    const [ownerOfA, ownerOfBoth] = [
      await signIn(api.url, 'a@agency.example'),
      await signIn(api.url, 'both@agency.example'),
    ]
    const read = async (by: ApiClient, id: string) =>
      (await by.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${id}`)).toReversed()
    const role = (client: { id: string }, name: string) => ({ client_id: client.id, role: name })

    for (const by of [admin, ownerOfBoth]) {
      const roles = [role(a, 'viewer'), role(b, 'viewer')]
      const email = by === admin ? 'one@agency.example' : 'two@agency.example'
      const { id } = await by.ask<InvitedUser>('POST', '/api/users', { email, roles })
      await by.ask('PATCH', `/api/users/${id}`, { roles: [role(a, 'editor'), role(b, 'viewer')] })
      await by.ask('PATCH', `/api/users/${id}`, { roles: [role(b, 'viewer')] })
      await by.ask('PATCH', `/api/users/${id}`, { roles: [role(a, 'viewer'), role(b, 'viewer')] })
      if (by === admin) await admin.ask('PATCH', `/api/users/${id}`, { name: 'Ada' })
      const named = await read(ownerOfA, id)
      assert.deepEqual(new Set(named.map(({ entity_name }) => entity_name)), new Set([by === admin ? 'Ada' : 'two']))
      await by.ask('PATCH', `/api/users/${id}`, { roles: [role(b, 'viewer')] })
      const seen = (await read(ownerOfA, id)).slice(0, 3)
      assert.deepEqual(
        seen.map(({ action, client_id, before, after }) => [action, client_id, before?.roles, after?.roles]),
        [
          ['user.create', a.id, undefined, `viewer of ${a.id}`],
          ['user.update', a.id, `viewer of ${a.id}`, `editor of ${a.id}`],
          ['user.update', a.id, `editor of ${a.id}`, ''],
        ],
      )
      assert.ok(!JSON.stringify(seen).includes(b.id))
      assert.deepEqual(new Set(seen.map(({ entity_name }) => entity_name)), new Set([null]))
      assert.equal((await read(admin, id)).length, by === admin ? 7 : 6)
    }

    const body = { name: 'deploy', role: 'editor', client_ids: [a.id, b.id] }
    const { id } = await ownerOfBoth.ask<NewApiToken>('POST', '/api/tokens', body)
    await ownerOfBoth.ask('DELETE', `/api/tokens/${id}`)
    const tokens = await read(ownerOfA, id)
    assert.deepEqual(
      tokens.map(({ action, before, after }) => [action, before?.clients, after?.clients]),
      [
        ['api_token.create', undefined, a.id],
        ['api_token.revoke', a.id, undefined],
      ],
    )
  },
)

testPerEngine(
  'the owner of a client reads what happens to an account that has roles for this client only',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const [a, b] = [await admin.newClient({ name: 'A' }), await admin.newClient({ name: 'B' })]
    const viewerOf = ({ id }: { id: string }) => ({ client_id: id, role: 'viewer' as const })
    await join(admin, 'owner@agency.example', [{ client_id: a.id, role: 'owner' }])
    const owner = await signIn(api.url, 'owner@agency.example')
    for (const [email, clients, seen] of [
      ['one@agency.example', [a], ['name', 'is_active', 'session', 'password_link']],
      ['both@agency.example', [a, b], []],
    ] as const) {
      const { id } = await join(admin, email, clients.map(viewerOf))
      await admin.ask('POST', `/api/users/${id}/link`)
      await signIn(api.url, email)
      const [session] = await admin.ask<SessionRecord[]>('GET', `/api/users/${id}/sessions`)
      await admin.ask('DELETE', `/api/users/${id}/sessions/${session?.id}`)
      await admin.ask('PATCH', `/api/users/${id}`, { is_active: false })
      await admin.ask('PATCH', `/api/users/${id}`, { name: 'Someone' })
      const entries = await owner.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${id}&actor=admin`)
      const changes = entries.filter(({ action }) => action === 'user.update')
      assert.deepEqual(
        changes.flatMap(({ after }) => Object.keys(after ?? {})),
        seen,
      )
      assert.equal(
        (await admin.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${id}&actor=admin`)).filter(
          ({ action }) => action === 'user.update',
        ).length,
        4,
      )
    }
  },
)
