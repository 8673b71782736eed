import assert from 'node:assert/strict'
import { handleIncident } from '../../../src/alerts/incidents/handle-incident.ts'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { runDue, typeOf } from '../../probes/support.ts'
import { alertRows, deliverAll, outbox, watch } from '../support.ts'
import { incidents, messages, watchServer } from './server-support.ts'

const eventsOf = async (store: Store, id: string) =>
  (
    await store.write.selectFrom('incident_events').select('kind').where('incident_id', '=', id).orderBy('id').execute()
  ).map(({ kind }) => kind)

testOnEveryEngine(
  'two probes that see one outage are one incident, opened once and resolved once',
  async (store, t) => {
    const { health, infra, clock, upkeep } = await watchServer(t, store)
    await health('critical')
    clock.advance(10 * MINUTE)
    await infra('critical')
    const [first, second] = await alertRows(store)
    const [incident, ...others] = await incidents(store)
    assert.deepEqual(others, [])
    assert.deepEqual([first?.incident_id, second?.incident_id], [incident?.id, incident?.id])
    assert.deepEqual([second?.suppressed_by, second?.announced_at], [`incident:${incident?.id}`, null])
    const events = await store.write
      .selectFrom('alert_events')
      .select('text')
      .where('alert_id', '=', second?.id ?? '')
      .execute()
    assert.ok(events.some(({ text }) => text === 'No notification: part of the incident “endpoint critical”'))
    clock.advance(MINUTE)
    await health('ok')
    await upkeep()
    assert.deepEqual(await messages(store), ['opened endpoint critical'], 'it lasts as long as one of its alerts')
    clock.advance(MINUTE)
    await infra('ok')
    assert.deepEqual(await messages(store), ['opened endpoint critical', 'resolved endpoint critical'])
    const [, resolved] = await outbox(store)
    assert.deepEqual([resolved?.alert.id, resolved?.incident?.alerts], [first?.id, 2], 'under the id that opened it')
    assert.equal(resolved?.alert.resolved_at, (await incidents(store))[0]?.resolved_at)
    assert.deepEqual(await eventsOf(store, incident?.id ?? ''), [
      'opened',
      'notified',
      'joined',
      'resolved',
      'notified',
    ])
  },
)

testLogic('a warning that another alert makes critical escalates once, in its words', async (store, t) => {
  const { health, infra, clock, upkeep } = await watchServer(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 20 }).execute()
  await infra('warning')
  clock.advance(MINUTE)
  await health('critical')
  await infra('critical')
  await health('critical')
  assert.deepEqual(await messages(store), ['opened hosting warning', 'escalated endpoint critical'])
  const [opened, escalated] = await outbox(store)
  assert.deepEqual([escalated?.alert.id, escalated?.alert.severity], [opened?.alert.id, 'critical'])
  assert.deepEqual([escalated?.probe.probe_type, escalated?.alert.message], ['http_health', 'endpoint critical'])
  assert.equal(escalated?.incident?.note, 'Until now: “hosting warning”')
  await infra('warning')
  clock.advance(21 * MINUTE)
  await upkeep()
  await health('ok')
  await infra('ok')
  assert.deepEqual((await messages(store)).slice(2), ['reminder endpoint critical', 'resolved endpoint critical'])
  const ended = (await outbox(store)).at(-1)
  assert.deepEqual([ended?.probe.probe_type, ended?.alert.message], ['http_health', 'endpoint critical'])
  assert.deepEqual([ended?.alert.id, ended?.alert.severity], [opened?.alert.id, 'critical'])
  assert.equal((await incidents(store))[0]?.severity, 'critical')
})

testOnEveryEngine(
  'an acknowledgement is taken back also when only what joined after it still lasts',
  async (store, t) => {
    const { health, infra, clock, upkeep } = await watchServer(t, store)
    await store.write.updateTable('clients').set({ reminder_minutes: 20 }).execute()
    await health('critical')
    const ctx = { store, clock, actor: 'admin' }
    const settings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
    const id = (await incidents(store))[0]?.id ?? ''
    await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Ada' })
    await infra('critical')
    await health('ok')
    const back = await handleIncident(ctx, settings, id, 'unacknowledge', { by: 'Ada' })
    assert.deepEqual([back.state, back.acknowledged_by], ['open', null])
    clock.advance(21 * MINUTE)
    await upkeep()
    assert.deepEqual(await messages(store), ['opened endpoint critical', 'reminder hosting critical'])
    await handleIncident(ctx, settings, id, 'unacknowledge', { by: 'Ada' })
    const said = (await eventsOf(store, id)).filter((kind) => kind === 'unacknowledged')
    assert.equal(said.length, 1, 'what is open is not given back')
  },
)

testLogic(
  'a second comment on an acknowledged incident is in its timeline, once, and stands for no one',
  async (store, t) => {
    const { health, infra, clock } = await watchServer(t, store)
    await health('critical')
    await infra('critical')
    const ctx = { store, clock, actor: 'admin' }
    const settings = { globalWebhook: null, isEmailOn: true }
    const id = (await incidents(store))[0]?.id ?? ''
    await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Ada' })
    await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Grace' })
    const after = await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Grace', comment: 'The disk is full' })
    assert.equal(after.acknowledged_by, 'Ada')
    const said = await store.read
      .selectFrom('incident_events')
      .select(['actor', 'text'])
      .where('incident_id', '=', id)
      .where('kind', '=', 'acknowledged')
      .execute()
    const comments = said.map(({ actor, text }) => `${actor}: ${text}`).toSorted()
    assert.deepEqual(comments, ['Ada: Acknowledged', 'Grace: The disk is full'])
  },
)

testLogic('a warning and what is critical, found at once, are one opening', async (store, t) => {
  const found: ('warning' | 'critical')[] = ['critical', 'warning']
  const type = typeOf(
    async () => {
      const status = found.pop() ?? 'critical'
      return { status, message: `endpoint ${status}`, details: {} }
    },
    { name: 'http_health' },
  )
  const { find, site } = await watch(t, store, { probe_type: 'http_health' }, { type })
  await insertProbe(store, site.id, { probe_type: 'http_health' })
  await find('c')
  await find('c')
  const said = (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity} ${alert.title}`)
  assert.deepEqual(said, ['opened critical endpoint critical'])
})

testOnEveryEngine(
  'where the first alert is silenced, the next one that may speak opens the incident',
  async (store, t) => {
    const { health, infra, clock, probe } = await watchServer(t, store)
    await store.write
      .insertInto('silences')
      .values({
        id: 's1',
        probe_id: probe.id,
        starts_at: 0,
        ends_at: clock.now() + HOUR,
        created_at: 0,
        created_by: 'x',
      })
      .execute()
    await health('critical')
    assert.deepEqual(await messages(store), [])
    await infra('critical')
    const [silenced, voice] = await alertRows(store)
    assert.deepEqual(await messages(store), ['opened endpoint critical'])
    const [opened] = await outbox(store)
    assert.equal(opened?.alert.id, voice?.id)
    assert.equal(silenced?.suppressed_by, 'silence:s1')
    clock.advance(2 * HOUR)
    await health('critical')
    assert.equal((await messages(store)).length, 1, 'its silence is over, and people know of the incident')
  },
)

testLogic('an alert that lasts long after its incident ended opens another', async (store, t) => {
  const { health, infra, clock, upkeep } = await watchServer(t, store)
  await health('critical')
  clock.advance(5 * MINUTE)
  await health('ok')
  clock.advance(2 * MINUTE)
  await infra('warning')
  const [incident] = await incidents(store)
  const found = async () => (await alertRows(store)).at(-1)
  const first = await found()
  assert.notEqual(first?.incident_id, null)
  clock.advance(20 * MINUTE)
  await upkeep()
  clock.advance(20 * MINUTE)
  await infra('warning')
  await upkeep()
  const all = await incidents(store)
  assert.equal(all.length, 2)
  assert.notEqual((await found())?.incident_id, incident?.id)
  assert.deepEqual(await messages(store), [
    'opened endpoint critical',
    'resolved endpoint critical',
    'opened hosting warning',
  ])
})

testLogic(
  'reminders go on when the alert that opened the incident is resolved, in the words of what lasts',
  async (store, t) => {
    const { health, infra, clock, upkeep, site } = await watchServer(t, store)
    await store.write.updateTable('clients').set({ reminder_minutes: 20 }).where('id', '=', site.client_id).execute()
    await health('critical')
    await infra('critical')
    await health('ok')
    clock.advance(19 * MINUTE)
    await upkeep()
    assert.equal((await messages(store)).length, 1)
    clock.advance(2 * MINUTE)
    await upkeep()
    await upkeep()
    assert.deepEqual(await messages(store), ['opened endpoint critical', 'reminder hosting critical'])
    const reminder = (await outbox(store)).at(-1)
    assert.deepEqual([reminder?.alert.message, reminder?.probe.probe_type], ['hosting critical', 'tag_server_infra'])
    clock.advance(31 * MINUTE)
    await upkeep()
    assert.equal((await messages(store)).length, 3)
    await store.write.updateTable('incidents').set({ state: 'acknowledged' }).execute()
    clock.advance(31 * MINUTE)
    await upkeep()
    assert.equal((await messages(store)).length, 3, 'someone takes care of it')
  },
)

testOnEveryEngine(
  'two nodes that find two signs of one fault at the same moment open one incident',
  async (store, t) => {
    for (let round = 0; round < 8; round++) {
      const { health, infra, site } = await watchServer(t, store)
      await Promise.all([health('critical'), infra('critical')])
      const opened = (await incidents(store)).filter(({ site_id }) => site_id === site.id)
      assert.equal(opened.length, 1, `round ${round}`)
      const told = (await outbox(store)).filter((message) => message.site.id === site.id)
      assert.deepEqual(
        told.map(({ kind }) => kind),
        ['opened'],
      )
    }
  },
)

testLogic('a symptom that outlasts its cause by half an hour is notified as something else', async (store, t) => {
  const bad = { server: true, tag: true }
  const server = typeOf(async () => ({ status: bad.server ? 'critical' : 'ok', message: 'no answer', details: {} }), {
    name: 'http_health',
  })
  const seen = await watch(t, store, { probe_type: 'http_health' }, { type: server })
  const subject = { tag_key: 'Meta CAPI' }
  const tag = typeOf(
    async () => ({
      status: bad.tag ? 'critical' : 'ok',
      message: 'Meta fails',
      details: {},
      findings: bad.tag
        ? [
            {
              subject,
              status: 'critical',
              message: 'Meta fails',
              startedAt: null,
              details: { findings: [{ subject }] },
            },
          ]
        : [],
    }),
    { name: 'tag_missing' },
  )
  const other = await watch(t, store, { probe_type: 'tag_missing', site_id: seen.site.id }, { type: tag })
  const look = async (minutes: number) => {
    seen.clock.advance(minutes * MINUTE)
    for (const { node, probe, clock } of [seen, other]) {
      clock.set(seen.clock.now())
      await store.write.updateTable('probes').set({ next_run_at: clock.now() }).where('id', '=', probe.id).execute()
      await runDue(node)
      await deliverAll(store, clock.now())
    }
  }
  await look(1)
  await look(10)
  assert.deepEqual(await messages(store), ['opened no answer'])
  bad.server = false
  await look(5)
  const end = seen.clock.now()
  await look(20)
  assert.deepEqual(await messages(store), ['opened no answer'], 'it may be its aftermath')
  await look(11)
  assert.deepEqual(await messages(store), ['opened no answer', 'opened Meta fails', 'resolved no answer'])
  const [first, second] = await incidents(store)
  assert.deepEqual([first?.state, first?.resolved_at, second?.state], ['resolved', end, 'open'])
  assert.deepEqual(await eventsOf(store, first?.id ?? ''), [
    'opened',
    'notified',
    'joined',
    'left',
    'resolved',
    'notified',
  ])
  bad.tag = false
  await look(5)
  assert.equal((await messages(store)).at(-1), 'resolved Meta fails')
})

testOnEveryEngine('what announced an incident and flaps outlasts its cause in the same incident', async (store, t) => {
  const { health, infra, clock } = await watchServer(t, store)
  const step = async (look: Promise<void>) => {
    await look
    clock.advance(MINUTE)
  }
  await step(health('critical'))
  for (let n = 0; n < 3; n++) await step(infra('error'))
  for (const status of ['ok', 'critical', 'ok', 'critical'] as const) await step(health(status))
  const told = ['opened', 'explained', 'flapping']
  const kinds = async () => (await messages(store)).map((line) => line.split(' ')[0])
  assert.deepEqual(await kinds(), told)
  await step(infra('ok'))
  clock.advance(HOUR)
  for (let n = 0; n < 2; n++) await step(health('critical'))
  assert.deepEqual(
    (await incidents(store)).map(({ state, title }) => `${state} ${title}`),
    ['open endpoint critical'],
  )
  assert.deepEqual(await kinds(), told, 'people know of it')
  for (let n = 0; n < 11; n++) await step(health('ok'))
  assert.deepEqual(await kinds(), [...told, 'resolved'])
})
