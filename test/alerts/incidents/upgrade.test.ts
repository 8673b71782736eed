import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newOrderedId } from '../../../src/lib/index.ts'
import { incidents } from '../../../src/store/migrations/0018-incidents.ts'
import { reopened } from '../../../src/store/migrations/0060-reopened.ts'
import { knownStates } from '../../../src/store/migrations/0061-known-states.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { alertRows } from '../support.ts'

testOnEveryEngine('the upgrade gives every unresolved alert an incident of its own', async (store) => {
  const site = await insertSite(store)
  const told = await insertAlert(store, site, NOW, {
    announced_at: NOW,
    last_announced_at: NOW,
    notified_severity: 'critical',
    state: 'acknowledged',
    acknowledged_by: 'Ada',
  })
  const silent = await insertAlert(store, site, NOW + 1, { probe_type: 'tag_missing', subject: 'tag:"Meta"' })
  await insertAlert(store, site, NOW + 2, { state: 'resolved', resolved_at: NOW + 3 })
  const made = incidents.statements(store.columnTypes).filter((text) => /^(insert|update)/.test(text))
  assert.equal(made.length, 3)
  for (const text of made) await sql.raw(text).execute(store.write)
  const rows = await store.write.selectFrom('incidents').selectAll().orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ id, cause, state, acknowledged_by, announced_alert_id, lead_alert_id, opened_at }) => [
      id,
      cause,
      state,
      acknowledged_by,
      announced_alert_id,
      lead_alert_id,
      opened_at,
    ]),
    [
      [told.id, 'server', 'acknowledged', 'Ada', told.id, told.id, NOW],
      [silent.id, 'tag', 'open', null, null, silent.id, NOW + 1],
    ],
  )
  assert.deepEqual(
    (await alertRows(store)).map(({ incident_id }) => incident_id),
    [told.id, silent.id, null],
  )
  const lines = await store.write.selectFrom('incident_events').select(['incident_id', 'kind']).execute()
  assert.equal(lines.length, 2)
})

testOnEveryEngine('the upgrade finds by their wording the alerts that reopened an incident', async (store) => {
  const BACK = '“It is down” is back, 11 min after its end'
  const lines = [
    ['opened', 'It is down'],
    ['joined', BACK],
    ['resolved', 'Recovered'],
    ['joined', '“Meta” failed while “It is down”'],
    ['joined', BACK],
    ['joined', BACK],
    ['resolved', 'Recovered'],
    ['noted', BACK],
    ['joined', BACK],
  ] as const
  const events = lines.map(([kind, text], n) => ({ id: newOrderedId(NOW + n), at: NOW + n, kind, actor: null, text }))
  for (const incident_id of ['one', 'other']) {
    await store.write
      .insertInto('incident_events')
      .values(events.map((event) => ({ ...event, incident_id })))
      .execute()
  }
  for (const text of reopened.statements(store.columnTypes)) await sql.raw(text).execute(store.write)
  const rows = await store.write.selectFrom('incident_events').select(['incident_id', 'kind']).orderBy('id').execute()
  for (const incident of ['one', 'other']) {
    assert.deepEqual(
      rows.flatMap(({ incident_id, kind }) => (incident_id === incident ? kind : [])),
      ['opened', 'joined', 'resolved', 'joined', 'reopened', 'joined', 'resolved', 'noted', 'reopened'],
    )
  }
})

testOnEveryEngine('the upgrade finds by their wording why messages reached no one', async (store) => {
  const ONLY = 'No notification: every channel takes critical alerts only'
  const BRIEF = 'it was over before a notification was due'
  const lines = [
    ['suppressed', ONLY],
    ['noted', ONLY],
    ['suppressed', 'No notification: silenced'],
  ] as const
  await store.write
    .insertInto('incident_events')
    .values(
      lines.map(([kind, text]) => ({
        incident_id: 'one',
        id: newOrderedId(NOW),
        at: NOW,
        kind,
        actor: null,
        text,
      })),
    )
    .execute()
  const messages = [
    ['opened', 'cancelled', BRIEF],
    ['opened', 'cancelled', 'it is bad again'],
    ['reminder', 'failed', 'given up after 24 hours: status 503'],
    ['opened', 'failed', 'given up after 24 hours'],
    ['opened', 'failed', 'status 404'],
    ['opened', 'pending', 'given up after 24 hours'],
  ] as const
  const fixed = { channel: 'global', message: '{}', created_at: NOW, not_before: NOW + 1, attempts: 0 }
  await store.write
    .insertInto('deliveries')
    .values(messages.map(([kind, state, last_error], n) => ({ ...fixed, id: `${n}`, kind, state, last_error })))
    .execute()
  for (const text of knownStates.statements(store.columnTypes).filter((one) => one.startsWith('update'))) {
    await sql.raw(text).execute(store.write)
  }
  const events = await store.write.selectFrom('incident_events').select(['kind', 'text']).execute()
  assert.deepEqual(events.map(({ kind, text }) => `${kind}: ${text}`).sort(), [
    `critical_only: ${ONLY}`,
    `noted: ${ONLY}`,
    'suppressed: No notification: silenced',
  ])
  const rows = await store.write.selectFrom('deliveries').select(['kind', 'given_up_at']).orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ kind, given_up_at }) => [kind, given_up_at]),
    [
      ['passed', null],
      ['opened', null],
      ['reminder', NOW + 1],
      ['opened', NOW + 1],
      ['opened', null],
      ['opened', null],
    ],
  )
})
