import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ClientRole,
  type Grants,
  highestRole,
  joined,
  lowestRole,
  narrowed,
  roleFor,
  suffices,
  visibleClients,
} from '../../src/http/access/grants.ts'

const grants = (all: ClientRole | null, clients: Record<string, ClientRole> = {}): Grants => ({
  all,
  clients: new Map(Object.entries(clients)),
})

const ROLES: [of: Grants, client: string | null, role: ClientRole | null][] = [
  [grants('owner'), 'a', 'owner'],
  [grants('owner'), null, 'owner'],
  [grants('viewer', { a: 'editor' }), 'a', 'editor'],
  [grants('viewer', { a: 'editor' }), 'b', 'viewer'],
  [grants('editor', { a: 'viewer' }), 'a', 'editor'],
  [grants(null, { a: 'owner' }), 'a', 'owner'],
  [grants(null, { a: 'owner' }), 'b', null],
  [grants(null, { a: 'owner' }), null, null],
  [grants(null), 'a', null],
]
for (const [of, client, role] of ROLES) {
  const held = `${of.all ?? 'no'} role for all and ${[...of.clients].join(' ') || 'none else'}`
  test(`with ${held}, ${client ?? 'what is of no client'} has the role ${role}`, () =>
    assert.equal(roleFor(of, client), role))
}

test('a role suffices for itself and for less', () => {
  assert.ok(suffices('owner', 'viewer') && suffices('editor', 'editor'))
  assert.ok(!suffices('viewer', 'editor') && !suffices(null, 'viewer'))
})

test('who has a role for all clients sees all, who has none of it sees those with a role', () => {
  assert.equal(visibleClients(grants('viewer', { a: 'owner' })), null)
  assert.deepEqual(visibleClients(grants(null, { a: 'owner', b: 'viewer' })), ['a', 'b'])
  assert.deepEqual(visibleClients(grants(null)), [])
})

test('the highest and the lowest role are those of anything visible', () => {
  assert.equal(highestRole(grants('viewer', { a: 'editor' })), 'editor')
  assert.equal(lowestRole(grants('viewer', { a: 'editor' })), 'viewer')
  assert.equal(lowestRole(grants(null, { a: 'owner', b: 'editor' })), 'editor')
  assert.deepEqual([highestRole(grants(null)), lowestRole(grants(null))], [null, null])
})

test('a request about one client has its role alone, one about what is of no client keeps all', () => {
  assert.deepEqual(narrowed(grants('viewer', { a: 'owner' }), ['a']), grants(null, { a: 'owner' }))
  assert.deepEqual(narrowed(grants('viewer', { a: 'owner' }), ['b']), grants(null, { b: 'viewer' }))
  assert.deepEqual(narrowed(grants('viewer', { a: 'owner' }), [null]), grants('viewer', { a: 'owner' }))
})

test('of two grants together the higher role holds, for all clients and for each', () => {
  const [one, other] = [grants('viewer', { a: 'owner', b: 'viewer' }), grants('editor', { a: 'viewer', b: 'editor' })]
  const both = grants('editor', { a: 'owner', b: 'editor' })
  assert.deepEqual([joined(one, other), joined(other, one)], [both, both])
})
