import assert from 'node:assert/strict'
import { acknowledgeAlert } from '../../src/alerts/handle-alert.ts'
import { escalateUnacknowledged } from '../../src/alerts/incidents/escalate.ts'
import { handleIncident } from '../../src/alerts/incidents/handle-incident.ts'
import { readIncident } from '../../src/alerts/index.ts'
import { createSilence } from '../../src/alerts/silences/silences.ts'
import { firstIdAt, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { createOwnChannel } from '../../src/notifications/api/own-channels.ts'
import { addOverride, setOnCall } from '../../src/notifications/on-call/on-call.ts'
import type { SetOnCall } from '../../src/notifications/on-call/schemas.ts'
import { sharedIncident } from '../../src/sharing/shared-incident.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { typeOf } from '../probes/support.ts'
import { deliverAll, outbox, type Watch, watch } from './support.ts'

const PLAN: SetOnCall = {
  people: [
    { name: 'Ada', email: 'ada@acme.example' },
    { name: 'Grace', email: 'grace@acme.example' },
    { name: 'Mary' },
  ],
  timezone: 'UTC',
  handover_weekday: 1,
  handover_time: '09:00',
  starts_on: '2026-11-16',
  escalate_after_minutes: 15,
}

/** Sets the plan, and returns by name the channels of its people. */
async function plan(store: Store, { clock, site }: Watch, over: Partial<SetOnCall> = {}) {
  const ctx = { store, clock, actor: 'admin' }
  const { rotation } = await setOnCall(ctx, site.client_id, { ...PLAN, ...over })
  const names = new Map(rotation.people.map(({ id, name }) => [`own:${site.client_id}:${id}`, name]))
  /** Each message as `Ada: opened`, those to everyone as `all: opened`. */
  const sent = async () =>
    (await outbox(store)).map(({ channel, kind, on_call }) => `${names.get(channel) ?? 'all'}: ${kind}, ${on_call}`)
  return { ctx, rotation, sent }
}

const events = async (store: Store) =>
  (
    await store.read
      .selectFrom('incident_events')
      .select(['kind', 'text'])
      .where('kind', '=', 'next_on_call')
      .orderBy('id')
      .execute()
  ).map(({ text }) => text)

testLogic('messages name who is on call, who gets them too, and their end', async (store, t) => {
  const seen = await watch(t, store)
  const { sent } = await plan(store, seen)
  await seen.find('c')
  assert.deepEqual(await sent(), ['all: opened, Ada', 'Ada: opened, Ada'])
  await seen.find('o')
  assert.deepEqual((await sent()).slice(2), ['all: resolved, undefined', 'Ada: resolved, undefined'])
})

testLogic('what waits goes to who is on call when it is due, and then to the others', async (store, t) => {
  const channelSettings = {
    globalWebhook: 'https://hooks.slack.com/services/T0/B0/x',
    isEmailOn: true,
    warningsAfterMs: 30 * MINUTE,
  }
  const seen = await watch(t, store, {}, { channelSettings, delivers: false })
  // A Friday: ten minutes after the first warning.
  const { sent } = await plan(store, seen, { handover_weekday: 5, handover_time: '10:11', starts_on: '2026-11-13' })
  await seen.find('w')
  assert.deepEqual(await sent(), ['all: opened, Grace', 'Grace: opened, Grace'])
  await deliverAll(store, seen.clock.now() + 30 * MINUTE)
  seen.clock.advance(45 * MINUTE)
  await seen.upkeep()
  assert.equal((await sent()).length, 2)
  // The next one at once, as nothing reaches Mary.
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Ada: reminder, Ada'])
  assert.deepEqual(await events(store), [
    'Not acknowledged for 15 min: passed on to Mary, who cannot be reached: add an e-mail address or a channel',
    'Not acknowledged for 15 min: passed on to Ada',
  ])
})

testLogic('a warning that becomes critical before the hand-over is news for who is on call', async (store, t) => {
  const channelSettings = { globalWebhook: null, isEmailOn: true, warningsAfterMs: 30 * MINUTE }
  const seen = await watch(t, store, {}, { channelSettings, delivers: false })
  const { sent } = await plan(store, seen, { handover_weekday: 5, handover_time: '10:11', starts_on: '2026-11-13' })
  await seen.find('wc')
  assert.deepEqual(await sent(), ['Grace: opened, Grace', 'Ada: escalated, Ada'])
})

testLogic('what no one acknowledges goes to each of the others once', async (store, t) => {
  const seen = await watch(t, store)
  const { sent } = await plan(store, seen)
  await seen.find('c')
  seen.clock.advance(14 * MINUTE)
  await seen.upkeep()
  assert.equal((await sent()).length, 2)
  seen.clock.advance(MINUTE)
  await seen.upkeep()
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
  assert.equal((await outbox(store)).at(-1)?.incident?.note, 'Not acknowledged for 15 min: passed on to Grace')
  for (let round = 0; round < 4; round++) {
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
  }
  assert.deepEqual(await events(store), [
    'Not acknowledged for 15 min: passed on to Grace',
    'Not acknowledged for another 15 min: passed on to Mary, who cannot be reached: add an e-mail address or a channel',
  ])
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  const shared = JSON.stringify(sharedIncident(await readIncident(store, id, false)))
  assert.ok(!shared.includes('Grace'), 'people without a key read no names')
  assert.equal((await sent()).length, 3)
  await seen.find('o')
  assert.deepEqual((await sent()).slice(3), [
    'all: resolved, undefined',
    'Ada: resolved, undefined',
    'Grace: resolved, undefined',
  ])
})

testLogic('what is no longer acknowledged is passed on that long after it was given back', async (store, t) => {
  const seen = await watch(t, store)
  const { ctx, sent } = await plan(store, seen)
  await seen.find('c')
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  const settings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
  await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Ada' })
  seen.clock.advance(45 * MINUTE)
  await handleIncident(ctx, settings, id, 'unacknowledge', { by: 'Ada' })
  await seen.upkeep()
  seen.clock.advance(14 * MINUTE)
  await seen.upkeep()
  assert.equal((await sent()).length, 2)
  seen.clock.advance(MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
  assert.deepEqual(await events(store), ['Not acknowledged for 15 min: passed on to Grace'])
})

testLogic('in quiet hours a warning is passed on to no one before they end', async (store, t) => {
  const channelSettings = { globalWebhook: null, isEmailOn: true }
  const seen = await watch(t, store, {}, { channelSettings })
  const email = { email: 'mary@acme.example' }
  const people = PLAN.people.map((person) => (person.name === 'Mary' ? { ...person, ...email } : person))
  const { sent } = await plan(store, seen, { people })
  await seen.find('w')
  const begins = new Date(seen.clock.now() + 10 * MINUTE).toISOString().slice(11, 16)
  const ends = new Date(seen.clock.now() + 60 * MINUTE).toISOString().slice(11, 16)
  await store.write.updateTable('sites').set({ timezone: 'UTC' }).execute()
  await store.write.updateTable('clients').set({ quiet_from: begins, quiet_to: ends }).execute()
  for (let minute = 0; minute < 59; minute += 10) {
    seen.clock.advance(10 * MINUTE)
    await seen.upkeep()
  }
  assert.deepEqual((await sent()).slice(1), ['Grace: reminder, Grace'], 'and not to everyone at once')
  assert.equal((await outbox(store)).at(-1)?.incident?.note, 'Not acknowledged for 60 min: passed on to Grace')
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Mary: reminder, Mary'])
})

testLogic('the end says critical to someone who got it as critical when it was passed on', async (store, t) => {
  const seen = await watch(t, store)
  await plan(store, seen)
  await store.write.updateTable('clients').set({ notify_escalated: 0 }).execute()
  await seen.find('wc')
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  await seen.find('wo')
  const said = (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity}`)
  const ends = Array.from({ length: 3 }, () => 'resolved critical')
  assert.deepEqual(said, ['opened warning', 'opened warning', 'reminder critical', ...ends])
})

testOnEveryEngine('what is back is passed on from its return on, again to the next one', async (store, t) => {
  const seen = await watch(t, store)
  const { sent } = await plan(store, seen)
  await seen.find('c')
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
  await seen.find('o')
  seen.clock.advance(20 * MINUTE)
  const before = (await sent()).length
  await seen.find('c')
  await seen.upkeep()
  seen.clock.advance(14 * MINUTE)
  await seen.upkeep()
  const back = ['all: opened, Ada', 'Ada: opened, Ada']
  assert.deepEqual((await sent()).slice(before), back)
  seen.clock.advance(MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(before), [...back, 'Grace: reminder, Grace'])
})

for (const ahead of ['the opening', 'the first step']) {
  testOnEveryEngine(`${ahead} on a clock that is a day ahead delays no one and repeats no step`, async (store, t) => {
    const seen = await watch(t, store)
    const mary = { name: 'Mary', email: 'mary@acme.example' }
    const { sent } = await plan(store, seen, { people: [...PLAN.people.slice(0, 2), mary] })
    // Ids begin with the time, so the outbox is not in the order of what happened.
    const passedOn = async () => (await sent()).filter((one) => one.includes('reminder')).toSorted()
    const toGrace = ['Grace: reminder, Grace']
    const toBoth = [...toGrace, 'Mary: reminder, Mary']
    seen.clock.advance(24 * HOUR)
    await seen.find('c')
    if (ahead === 'the first step') {
      seen.clock.advance(15 * MINUTE)
      await seen.upkeep()
      assert.deepEqual(await passedOn(), toGrace)
    }
    seen.clock.advance(-24 * HOUR)
    for (let round = 0; round < 3; round++) await seen.upkeep()
    assert.deepEqual(await passedOn(), ahead === 'the opening' ? toGrace : toBoth)
    seen.clock.advance(14 * MINUTE)
    await seen.upkeep()
    assert.deepEqual(await passedOn(), ahead === 'the opening' ? toGrace : toBoth)
    seen.clock.advance(MINUTE)
    for (let round = 0; round < 3; round++) await seen.upkeep()
    assert.deepEqual(await passedOn(), toBoth)
    // The time at which the opening was written comes again.
    seen.clock.advance(24 * HOUR)
    for (let round = 0; round < 3; round++) await seen.upkeep()
    assert.deepEqual(await passedOn(), toBoth)
  })
}

testOnEveryEngine('each person is notified once, however the rotation is changed meanwhile', async (store, t) => {
  const seen = await watch(t, store)
  const email = (name: string) => ({ name, email: `${name.toLowerCase()}@acme.example` })
  const everyone = ['Ada', 'Grace', 'Mary', 'Joan'].map(email)
  const { sent, rotation, ctx } = await plan(store, seen, { people: everyone })
  const [ada, grace, mary, joan] = rotation.people
  const change = (people: readonly (typeof ada)[]) =>
    setOnCall(ctx, seen.site.client_id, {
      ...PLAN,
      people: people.flatMap((person) => (person === undefined ? [] : { id: person.id, ...email(person.name) })),
    })
  const wait = async () => {
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
    await seen.upkeep()
  }
  await seen.find('c')
  await wait()
  await change([grace, mary, ada, joan])
  await wait()
  await change([grace, mary, joan])
  await wait()
  await wait()
  assert.deepEqual(
    (await sent()).filter((one) => one.includes('reminder')),
    ['Grace: reminder, Grace', 'Mary: reminder, Mary', 'Joan: reminder, Joan'],
  )
})

testLogic('what is back within a silence is passed on only after it was said that it is back', async (store, t) => {
  const seen = await watch(t, store)
  const { sent, ctx } = await plan(store, seen)
  await seen.find('co')
  const before = (await sent()).length
  const ends_at = isoTime(seen.clock.now() + HOUR)
  await createSilence(ctx, { site_id: seen.site.id, ends_at })
  seen.clock.advance(MINUTE)
  await seen.find('c')
  seen.clock.advance(HOUR)
  await escalateUnacknowledged(store, seen.alerts.channelSettings, seen.clock, () => true)
  assert.deepEqual((await sent()).slice(before), [])
  await seen.upkeep()
  await seen.upkeep()
  const back = ['all: opened, Ada', 'Ada: opened, Ada']
  assert.deepEqual((await sent()).slice(before), back)
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(before), [...back, 'Grace: reminder, Grace'])
})

testLogic('a message to the next one that was given up is tried again while no one acknowledges', async (store, t) => {
  const seen = await watch(t, store, {}, { delivers: false })
  const { sent } = await plan(store, seen)
  await seen.find('c')
  await deliverAll(store, seen.clock.now())
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
  // Before it, more plain reminders than one round looks at.
  const row = (await store.read.selectFrom('deliveries').selectAll().orderBy('id').execute())[2]
  assert.ok(row !== undefined)
  const plain = row.message.replace(/"note":"[^"]*"/, '"note":null')
  const earlier = (n: number) => firstIdAt(seen.clock.now() - MINUTE).slice(0, -3) + `${n}`.padStart(3, '0')
  const reminders = Array.from({ length: 250 }, (_, n) => ({ ...row, id: earlier(n), message: plain }))
  await store.write.insertInto('deliveries').values(reminders).execute()
  const given = { state: 'failed', last_error: 'status 503', given_up_at: seen.clock.now() }
  const states = async () =>
    (
      await store.write.selectFrom('deliveries').select('state').where('message', '<>', plain).orderBy('id').execute()
    ).map(({ state }) => state)
  for (const state of ['open', 'acknowledged']) {
    await store.write.updateTable('deliveries').set(given).where('state', '=', 'pending').execute()
    await store.write.updateTable('incidents').set({ state }).execute()
    seen.clock.advance(24 * HOUR)
    await seen.upkeep()
    assert.deepEqual(await states(), ['delivered', 'delivered', state === 'open' ? 'pending' : 'failed'])
  }
})

testLogic(
  'a message to the next one that was given up before the end is not sent once it is back',
  async (store, t) => {
    const seen = await watch(t, store, {}, { delivers: false })
    const { sent } = await plan(store, seen)
    await seen.find('c')
    await deliverAll(store, seen.clock.now())
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
    const given = { state: 'failed', last_error: 'status 503', given_up_at: seen.clock.now() }
    await store.write.updateTable('deliveries').set(given).where('state', '=', 'pending').execute()
    await seen.find('o')
    await deliverAll(store, seen.clock.now())
    seen.clock.advance(20 * MINUTE)
    await seen.find('c')
    await seen.upkeep()
    const waiting = async () =>
      (await store.read.selectFrom('deliveries').select('kind').where('state', '=', 'pending').execute()).map(
        ({ kind }) => kind,
      )
    assert.deepEqual(await waiting(), ['opened', 'opened'])
    await deliverAll(store, seen.clock.now())
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
    assert.deepEqual(await waiting(), ['reminder'])
    assert.equal((await sent()).at(-1), 'Grace: reminder, Grace')
  },
)

for (const end of ['paused', 'deleted'] as const) {
  testLogic(`what lasts goes on to the others when the probe that opened the incident is ${end}`, async (store, t) => {
    const critical = { status: 'critical', message: 'It does not answer', details: {} } as const
    const type = typeOf(async () => critical, { name: 'http_health' })
    const seen = await watch(t, store, { probe_type: 'http_health' }, { type })
    await insertProbe(store, seen.site.id, { probe_type: 'http_health' })
    const { sent } = await plan(store, seen)
    await seen.find('c')
    const { probe_id } = await store.read
      .selectFrom('incidents')
      .innerJoin('alerts', 'alerts.id', 'incidents.announced_alert_id')
      .select('alerts.probe_id')
      .executeTakeFirstOrThrow()
    if (end === 'deleted') await store.write.deleteFrom('probes').where('id', '=', probe_id).execute()
    else await store.write.updateTable('probes').set({ is_active: 0 }).where('id', '=', probe_id).execute()
    await seen.upkeep()
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
    assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
  })
}

testLogic('what lasts is taken care of once the alert that no one acknowledged is over', async (store, t) => {
  let status: 'critical' | 'ok' = 'critical'
  const type = typeOf(
    async ({ probe }) => ({
      status: probe.id === seen.probe.id ? 'critical' : status,
      message: `It is ${status}`,
      details: {},
    }),
    { name: 'http_health' },
  )
  const seen = await watch(t, store, { probe_type: 'http_health' }, { type })
  await insertProbe(store, seen.site.id, { probe_type: 'http_health' })
  const { sent, ctx } = await plan(store, seen)
  await seen.find('c')
  const one = store.read.selectFrom('alerts').select('id').where('probe_id', '=', seen.probe.id)
  const { id } = await one.executeTakeFirstOrThrow()
  await acknowledgeAlert(ctx, seen.alerts.channelSettings, id, { by: 'Ada' })
  const incident = () =>
    store.read.selectFrom('incidents').select(['state', 'acknowledged_by']).executeTakeFirstOrThrow()
  assert.deepEqual(await incident(), { state: 'open', acknowledged_by: null })
  status = 'ok'
  await seen.find('o')
  assert.deepEqual(await incident(), { state: 'acknowledged', acknowledged_by: 'Ada' })
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), [], 'Grace may sleep')
})

testOnEveryEngine('what is acknowledged, silenced or over goes to no one else', async (store, t) => {
  const seen = await watch(t, store)
  const { sent, ctx } = await plan(store, seen)
  await seen.find('c')
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  await createSilence(ctx, { incident_id: id, ends_at: isoTime(seen.clock.now() + HOUR) })
  seen.clock.advance(30 * MINUTE)
  await seen.upkeep()
  assert.equal((await sent()).length, 2)
  for (const table of ['alerts', 'incidents'] as const) {
    await store.write.updateTable(table).set({ state: 'acknowledged' }).execute()
  }
  seen.clock.advance(2 * HOUR)
  await seen.upkeep()
  assert.equal((await sent()).length, 2)
})

testOnEveryEngine('what is silenced while a round of hand-overs runs goes to no one else', async (store, t) => {
  const seen = await watch(t, store)
  const { sent, ctx } = await plan(store, seen)
  await seen.find('c')
  seen.clock.advance(30 * MINUTE)
  let isSilenced = false
  const stepping = steppingStore(store, async () => {
    if (isSilenced) return
    isSilenced = true
    seen.clock.advance(1)
    await createSilence(ctx, { site_id: seen.site.id, ends_at: isoTime(seen.clock.now() + HOUR) })
  })
  await escalateUnacknowledged(stepping, seen.alerts.channelSettings, seen.clock, () => true)
  assert.ok(isSilenced)
  assert.equal((await sent()).length, 2)
})

testOnEveryEngine(
  'the stand-in is notified, and a person whom a channel for all clients reaches too is notified once',
  async (store, t) => {
    const seen = await watch(t, store)
    await store.write.updateTable('clients').set({ email: 'ops@acme.example, grace@acme.example' }).execute()
    const { sent, ctx, rotation } = await plan(store, seen)
    const [, grace, mary] = rotation.people
    const [starts_at, ends_at] = [isoTime(seen.clock.now()), isoTime(seen.clock.now() + HOUR)]
    await addOverride(ctx, seen.site.client_id, { person_id: grace?.id ?? '', starts_at, ends_at })
    await seen.find('c')
    assert.deepEqual(await sent(), ['all: opened, Grace', 'all: opened, Grace'])
    seen.clock.advance(15 * MINUTE)
    await seen.upkeep()
    assert.match((await events(store))[0] ?? '', new RegExp(`passed on to ${mary?.name}`))
  },
)

testLogic('a client that only the one on call can be reached at is reached', async (store, t) => {
  const seen = await watch(t, store, {}, { channelSettings: { globalWebhook: null, isEmailOn: true } })
  const { sent } = await plan(store, seen, { escalate_after_minutes: null })
  await seen.find('c')
  seen.clock.advance(HOUR)
  await seen.upkeep()
  assert.deepEqual(await sent(), ['Ada: opened, Ada'])
})

testLogic('everyone in the rotation is notified when nothing else reaches anyone', async (store, t) => {
  const seen = await watch(t, store, {}, { channelSettings: { globalWebhook: null, isEmailOn: true } })
  const people = [{ name: 'Mary' }, { name: 'Ada', email: 'ada@acme.example' }]
  const { sent } = await plan(store, seen, { people, escalate_after_minutes: null })
  await seen.find('c')
  assert.deepEqual(await sent(), ['Ada: opened, Mary'])
})

testLogic(
  'who has only channels that are off, or take critical alerts only, is passed over at once',
  async (store, t) => {
    const seen = await watch(t, store)
    const { id } = await createOwnChannel({ store, clock: seen.clock, actor: 'test' }, seen.site.client_id, {
      kind: 'email',
      name: 'Urgent',
      address: 'grace@acme.example',
      minimum_severity: 'critical',
    })
    const people = [
      { name: 'Ada', email: 'ada@acme.example' },
      { name: 'Grace', channel_id: id },
      { name: 'Joan', email: 'joan@acme.example' },
      { name: 'Edith', email: 'edith@acme.example' },
    ]
    const { sent, rotation } = await plan(store, seen, { people })
    const joan = `own:${seen.site.client_id}:${rotation.people[2]?.id}`
    const off = { address: 'joan@acme.example', off_since: seen.clock.now(), next_attempt_at: 0, failures: 1 }
    await store.write
      .insertInto('channels')
      .values({ channel: joan, ...off })
      .execute()
    await seen.find('w')
    const before = (await sent()).length
    seen.clock.advance(15 * MINUTE)
    for (let round = 0; round < 3; round++) await seen.upkeep()
    assert.deepEqual((await sent()).slice(before), ['Joan: reminder, Joan', 'Edith: reminder, Edith'])
    assert.match(
      (await events(store)).join(),
      /Grace, who cannot be reached.*Joan, who cannot be reached.*passed on to Edith$/,
    )
  },
)

testLogic('incidents that may not be passed on hold up no others', async (store, t) => {
  const seen = await watch(t, store)
  const { sent } = await plan(store, seen)
  await seen.find('c')
  const incident = await store.read.selectFrom('incidents').selectAll().executeTakeFirstOrThrow()
  const earlier = (n: number) => firstIdAt(seen.clock.now() - MINUTE).slice(0, -3) + `${n}`.padStart(3, '0')
  // As of incidents within maintenance, with more of them than one round looks at.
  const held = Array.from({ length: 250 }, (_, n) => ({ ...incident, id: earlier(n), announced_alert_id: null }))
  await store.write.insertInto('incidents').values(held).execute()
  seen.clock.advance(15 * MINUTE)
  await seen.upkeep()
  assert.deepEqual((await sent()).slice(2), ['Grace: reminder, Grace'])
})
