import assert from 'node:assert/strict'
import { HOUR, isoTime, MINUTE, newId, newOrderedId } from '../../src/lib/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { resultsOf, runDue, typeOf } from '../probes/support.ts'
import { alertRows, outbox, timeline, watch } from './support.ts'

testLogic('a title that is too long ends with a whole character', async (store, t) => {
  const message = `Slow: ${'🐌'.repeat(200)}`
  const type = typeOf(async () => ({ status: 'critical', message, details: {} }))
  const { find } = await watch(t, store, {}, { type })
  await find('c')
  const [alert] = await alertRows(store)
  assert.equal(alert?.title, `Slow: ${'🐌'.repeat(76)}…`)
})

testLogic('a critical result opens one alert with one message, and an ok result resolves it', async (store, t) => {
  const { find, probe, site, clock } = await watch(t, store)
  await find('oc')
  const openedAt = clock.now()
  await find('c')
  const [open, ...others] = await alertRows(store)
  assert.deepEqual(others, [])
  assert.deepEqual(
    { ...open, id: undefined },
    {
      id: undefined,
      client_id: site.client_id,
      site_id: site.id,
      probe_id: probe.id,
      probe_type: 'fake',
      subject: 'target',
      subject_label: null,
      severity: 'critical',
      severity_since: openedAt,
      state: 'open',
      title: 'It is critical',
      message: 'It is critical',
      details: '{}',
      started_at: openedAt,
      opened_at: openedAt,
      last_seen_at: openedAt + MINUTE,
      occurrences: 2,
      confirmed_at: openedAt,
      vendor: null,
      acknowledged_at: null,
      acknowledged_by: null,
      resolved_at: null,
      resolution: null,
      suppressed_by: null,
      is_flapping: 0,
      announced_at: openedAt,
      last_announced_at: openedAt,
      first_notified_at: openedAt,
      last_notified_at: openedAt,
      notified_severity: 'critical',
      bad_events: '[]',
      told_events: 0,
      incident_id: open?.incident_id,
    },
  )
  await find('o')
  const [ended] = await alertRows(store)
  assert.deepEqual([ended?.state, ended?.resolution, ended?.resolved_at], ['resolved', 'recovered', clock.now()])
  assert.deepEqual(await timeline(store, ended?.id ?? ''), ['opened', 'notified', 'resolved', 'notified'])
  const messages = await outbox(store)
  assert.deepEqual(
    messages.map(({ channel, kind, alert }) => [channel, kind, alert.state]),
    [
      ['global', 'opened', 'open'],
      ['global', 'resolved', 'resolved'],
    ],
  )
})

testLogic('a message says what, since when, where, and what changed before', async (store, t) => {
  const { find, probe, site, clock } = await watch(t, store)
  const at = clock.now() - 11 * MINUTE
  const marker = { site_id: site.id, source: 'web container', from_version: '41', to_version: '42', details: '{}' }
  await store.write
    .insertInto('deploy_markers')
    .values([
      { ...marker, id: newOrderedId(at - 7 * HOUR), at: at - 7 * HOUR, to_version: '41', from_version: '40' },
      { ...marker, id: newOrderedId(at), at },
    ])
    .execute()
  await find('w')
  const [message] = await outbox(store)
  assert.deepEqual(message, {
    channel: 'global',
    kind: 'opened',
    alert: {
      id: message?.alert.id,
      severity: 'warning',
      state: 'open',
      title: 'It is warning',
      message: 'It is warning',
      since: clock.now(),
      opened_at: clock.now(),
      resolved_at: null,
      resolution: null,
      resolved_by: null,
      occurrences: 1,
    },
    client: { id: site.client_id, name: 'Acme' },
    site: { id: site.id, name: 'shop', url: 'https://shop.example', timezone: 'UTC' },
    probe: { id: probe.id, name: 'Fake', probe_type: 'fake' },
    facts: [],
    change: '12 min after web container 41 → 42',
    incident: {
      id: message?.incident?.id,
      title: 'It is warning',
      cause: 'other',
      alerts: 1,
      note: null,
      elsewhere: null,
      likely_cause: null,
      impact: null,
    },
  })
})

testLogic("it goes to everyone's webhook, the client's own and its e-mail address", async (store, t) => {
  const { find, site } = await watch(t, store)
  await store.write
    .updateTable('clients')
    .set({ chat_webhook: 'https://hooks.example/own', email: 'ops@shop.example' })
    .where('id', '=', site.client_id)
    .execute()
  await find('c')
  const messages = await outbox(store)
  assert.deepEqual(
    messages.map(({ channel }) => channel).sort(),
    ['global', `chat:${site.client_id}`, `email:${site.client_id}`].sort(),
  )
})

testLogic('an alert opens also when there is no one to notify', async (store, t) => {
  const { find } = await watch(t, store, {}, { channelSettings: { globalWebhook: null, isEmailOn: false } })
  await find('c')
  assert.equal((await alertRows(store)).length, 1)
  assert.deepEqual(await outbox(store), [])
})

testOnEveryEngine('the store refuses a second unresolved alert for a probe and subject', async (store, t) => {
  const { find } = await watch(t, store)
  await find('c')
  const [first] = await alertRows(store)
  assert.ok(first !== undefined)
  const insert = (over: object) =>
    store.write
      .insertInto('alerts')
      .values({ ...first, id: newId(), ...over })
      .execute()
  await assert.rejects(insert({}), { kind: 'unique' })
  await insert({ subject: 'check' })
  await insert({ state: 'resolved' })
})

testLogic(
  'three errors in a row open an alert about the check itself, and any other result resolves it',
  async (store, t) => {
    const { find } = await watch(t, store)
    await find('ceee')
    const shown = async () => (await alertRows(store)).map(({ subject, state, title }) => [subject, state, title])
    assert.deepEqual(await shown(), [
      ['target', 'open', 'It is critical'],
      ['check', 'open', '“Fake” cannot check: It is error'],
    ])
    await find('c')
    assert.deepEqual(await shown(), [
      ['target', 'open', 'It is critical'],
      ['check', 'resolved', '“Fake” cannot check: It is error'],
    ])
  },
)

testOnEveryEngine('many probes that fail at once have an alert each, in one transaction', async (store, t) => {
  const { find, site } = await watch(t, store)
  for (let count = 0; count < 30; count++) await insertProbe(store, site.id)
  await find('c')
  assert.equal((await alertRows(store)).length, 31)
  await find('o')
  assert.ok((await alertRows(store)).every(({ state }) => state === 'resolved'))
})

testLogic('a probe that is switched off opens nothing when it is run by hand', async (store, t) => {
  const { find, probe, node } = await watch(t, store)
  await store.write.updateTable('probes').set({ is_active: 0 }).where('id', '=', probe.id).execute()
  await find('c')
  const [run] = await Promise.all([node.probes.scheduler.runNow(probe.id), runDue(node)])
  assert.equal(run?.status, 'critical')
  assert.deepEqual(await alertRows(store), [])
})

testOnEveryEngine(
  'results during maintenance are marked, and their alert notifies when it is over',
  async (store, t) => {
    const { find, upkeep, probe, site, clock } = await watch(t, store)
    const id = newId()
    await store.write
      .insertInto('maintenance')
      .values({
        id,
        site_id: site.id,
        title: 'Move',
        kind: 'once',
        is_active: 1,
        starts_at: clock.now(),
        ends_at: clock.now() + 150 * 1000,
        created_at: clock.now(),
        created_by: 'test',
      })
      .execute()
    await find('cc')
    assert.deepEqual(
      (await resultsOf(store, probe.id)).map(({ maintenance_id }) => maintenance_id),
      [id, id],
    )
    assert.deepEqual(await outbox(store), [])
    assert.equal((await alertRows(store))[0]?.suppressed_by, `maintenance:${id}`)
    clock.advance(MINUTE)
    await upkeep()
    assert.deepEqual(
      (await outbox(store)).map(({ kind, alert }) => [kind, isoTime(alert.opened_at)]),
      [['opened', isoTime(clock.now() - 2 * MINUTE)]],
    )
    await find('c')
    assert.equal((await resultsOf(store, probe.id)).at(-1)?.maintenance_id, null)
  },
)

testLogic('a result that judged nothing neither ends an alert nor counts towards its end', async (store, t) => {
  const { find } = await watch(t, store, { recovery_threshold: 2 })
  const state = async () => (await alertRows(store)).map((alert) => [alert.state, alert.occurrences])
  await find('cuuu')
  assert.deepEqual(await state(), [['open', 1]])
  await find('ouu')
  assert.deepEqual(await state(), [['open', 1]], 'one of two')
  await find('o')
  assert.deepEqual(await state(), [['resolved', 1]], 'what was judged between counts')
})

testLogic('a result that judged nothing opens no alert, and does end one about the check itself', async (store, t) => {
  const { find } = await watch(t, store)
  await find('uuuu')
  assert.deepEqual(await alertRows(store), [])
  await find('eee')
  assert.deepEqual(
    (await alertRows(store)).map(({ state, subject }) => [state, subject]),
    [['open', 'check']],
  )
  await find('u')
  assert.deepEqual(
    (await alertRows(store)).map(({ state }) => state),
    ['resolved'],
  )
})
