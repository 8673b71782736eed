import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRecord } from '../../web/src/api/audit.ts'
import { hasPausedProbe, localTime, nameOf, pageOf, withNames } from '../../web/src/features/audit/entries.ts'

const NAMES = new Map([
  ['c1', 'Nordwind'],
  ['s1', 'Shop'],
  ['p1', 'Health of Shop'],
])

const entry = (entity: string, entity_id: string, after: Record<string, unknown> | null = null): AuditRecord => ({
  id: 1,
  at: '2026-11-20T12:00:00.000Z',
  actor: 'admin',
  action: `${entity}.update`,
  entity,
  entity_id,
  entity_name: null,
  client_id: null,
  before: null,
  after,
})

test('an entry of the audit is named by what it is about, a silence by what it silences', () => {
  const cases: readonly [AuditRecord, string | null][] = [
    [entry('site', 's1'), 'Shop'],
    [entry('site', 'gone', { name: 'Old shop' }), 'Old shop'],
    [entry('maintenance', 'm1', { title: 'Move of the server', site_id: 's1' }), 'Move of the server'],
    [entry('silence', 'x1', { probe_id: 'p1', site_id: null }), 'Health of Shop'],
    [entry('silence', 'x2', { client_id: 'c1' }), 'Nordwind'],
    [entry('silence', 'x3', { client_id: 'gone' }), null],
    [entry('alert', 'a1', { state: 'acknowledged' }), 'the alert'],
    [entry('incident', 'i1', { title: 'Meta CAPI fails' }), 'Meta CAPI fails'],
    [{ ...entry('user', 'u1', { password: 'set with a link' }), entity_name: 'Ada', client_id: 'c1' }, 'Ada'],
    [{ ...entry('user', 'u2', { email: 'cyd@agency.example', name: '' }), client_id: 'c1' }, 'cyd@agency.example'],
    [{ ...entry('user', 'u3', { password: 'set with a link' }), client_id: 'c1' }, null],
    [{ ...entry('on_call', 'o1', { timezone: 'UTC' }), client_id: 'c1' }, 'Nordwind'],
  ]
  for (const [each, name] of cases) assert.equal(nameOf(each, NAMES), name, each.entity_id)
})

test('ids within a value are shown as names, those of deleted things as they are', () => {
  const [known, gone] = ['93ed7786-c270-40ae-9dc1-202add3e49af', '173b0f0a-5a26-425f-b708-9aa6ba6d1797']
  const names = new Map([[known, 'Nordwind']])
  assert.equal(withNames(`editor of ${known}, viewer of ${gone}`, names), `editor of Nordwind, viewer of ${gone}`)
  assert.equal(withNames(known, names), 'Nordwind')
})

test('an entry leads to the page of what it is about, as long as that is there', () => {
  assert.deepEqual(pageOf(entry('site', 's1'), NAMES), { to: '/sites/$siteId', params: { siteId: 's1' } })
  assert.deepEqual(pageOf(entry('client', 'c1'), NAMES), { to: '/clients/$clientId', params: { clientId: 'c1' } })
  assert.deepEqual(pageOf(entry('probe', 'p1'), NAMES), { to: '/probes/$probeId', params: { probeId: 'p1' } })
  assert.deepEqual(pageOf(entry('alert', 'a1'), NAMES), { to: '/alerts/$alertId', params: { alertId: 'a1' } })
  assert.equal(pageOf(entry('site', 'gone'), NAMES), undefined)
  assert.equal(pageOf(entry('silence', 's1'), NAMES), undefined)
})

test('a time in a change is shown in local time, and other text as it is', () => {
  assert.equal(localTime('2026-11-20T12:00:00.000Z', 'Europe/Berlin'), '20 Nov 2026, 13:00:00 CET')
  for (const text of ['2026', '2026-11-20', 'Shop', '2026-99-20T12:00:00.000Z', 'x 2026-11-20T12:00:00.000Z']) {
    assert.equal(localTime(text, 'UTC'), undefined, text)
  }
})

test('only a paused probe makes the audit log ask for all probes: those that run are known, and a deletion is newer', () => {
  const running = [{ id: 'p1', name: 'Health of Shop', site_id: 's1' }]
  const gone = { ...entry('probe', 'p2'), action: 'probe.delete' }
  assert.equal(hasPausedProbe([entry('probe', 'p1'), entry('site', 's2'), gone, entry('probe', 'p2')], running), false)
  assert.equal(hasPausedProbe([entry('probe', 'p3')], running), true)
})
