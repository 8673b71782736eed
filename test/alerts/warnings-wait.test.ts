import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createSilence, removeSilence } from '../../src/alerts/silences/silences.ts'
import { HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { createOwnChannel, updateOwnChannel } from '../../src/notifications/api/own-channels.ts'
import type { AlertMessage, ChannelKey } from '../../src/notifications/index.ts'
import { setOnCall } from '../../src/notifications/on-call/on-call.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { typeOf } from '../probes/support.ts'
import { deliverAll, watch } from './support.ts'

const SLACK = 'https://hooks.slack.com/services/T0/B0/all'
const WAIT = 30 * MINUTE

type Status = 'ok' | 'warning' | 'critical'

interface Options {
  name?: string
  warningsAfterMs?: number
  globalWebhook?: string | null
}

/** A site with one probe, whose client has a generic webhook, an e-mail address and, for all clients, a chat. */
async function watchOne(t: TestContext, store: Store, options: Options = {}) {
  const { name = 'http_health', warningsAfterMs = WAIT, globalWebhook = SLACK } = options
  let status: Status = 'ok'
  const type = typeOf(async () => ({ status, message: `it is ${status}`, details: {} }), { name })
  const channelSettings = { globalWebhook, isEmailOn: true, warningsAfterMs }
  const seen = await watch(t, store, { probe_type: name }, { type, delivers: false, channelSettings })
  const reached = { chat_webhook: 'https://hooks.example/client', email: 'ops@acme.example' }
  await store.write.updateTable('clients').set(reached).execute()
  const { clock } = seen
  /** What is due is sent, as a sender would; messages whose fate is settled are shown as `global opened warning`. */
  const send = async () => {
    const now = clock.now()
    await store.write
      .updateTable('deliveries')
      .set({ state: 'cancelled' })
      .where('kind', '=', 'passed')
      .where('state', '=', 'pending')
      .where('not_before', '<=', now)
      .execute()
    const due = await store.write
      .updateTable('deliveries')
      .set({ state: 'delivered', delivered_at: now })
      .where('state', '=', 'pending')
      .where('not_before', '<=', now)
      .returningAll()
      .execute()
    return due.map(({ channel, kind, message }) => `${place(channel)} ${kind} ${severityIn(message)}`).sort()
  }
  return {
    ...seen,
    send,
    /** A run so many minutes later; what is due in each of these is sent. Returns what was. */
    async run(found: Status, minutes = 1) {
      const sent: string[] = []
      for (let minute = 1; minute < minutes; minute++) {
        clock.advance(MINUTE)
        await seen.upkeep()
        sent.push(...(await send()))
      }
      status = found
      await seen.find('o')
      await seen.upkeep()
      clock.advance(11_000)
      sent.push(...(await send()))
      return sent
    },
    rows: async () => {
      const rows = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
      return rows.map(({ channel, kind, state }) => `${place(channel)} ${kind} ${state}`).sort()
    },
  }
}

const place = (channel: string): string => channel.split(':')[0] ?? ''
const severityIn = (message: string): string => (JSON.parse(message) as AlertMessage).alert.severity

const emailsOf = (texts: readonly string[]): string[] => texts.filter((text) => text.startsWith('email'))

testOnEveryEngine('a warning goes to webhooks at once, and to people after it has lasted', async (store, t) => {
  const { run } = await watchOne(t, store)
  assert.deepEqual(await run('warning'), ['chat opened warning'])
  assert.deepEqual(await run('warning', 28), [])
  assert.deepEqual(await run('warning', 3), ['email opened warning', 'global opened warning'])
})

testLogic('with a wait of 0 a warning goes at once everywhere', async (store, t) => {
  const { run } = await watchOne(t, store, { warningsAfterMs: 0 })
  assert.deepEqual(await run('warning'), ['chat opened warning', 'email opened warning', 'global opened warning'])
})

testLogic(
  'a warning that is back before people were notified waits for the end of the quiet hours',
  async (store, t) => {
    const { run, clock } = await watchOne(t, store, { name: 'data_volume' })
    await store.write.updateTable('clients').set({ quiet_from: '10:40', quiet_to: '12:00' }).execute()
    await run('warning')
    await run('ok', 5)
    assert.deepEqual(emailsOf(await run('warning', 40)), [])
    const { not_before } = await store.write
      .selectFrom('deliveries')
      .select('not_before')
      .where('channel', 'like', 'email:%')
      .executeTakeFirstOrThrow()
    assert.deepEqual([isoTime(clock.now()).slice(11, 16), isoTime(not_before).slice(11, 16)], ['10:46', '12:00'])
  },
)

testLogic('a channel with a wait of its own keeps to that', async (store, t) => {
  const { run, site } = await watchOne(t, store)
  const channel = { client_id: site.client_id, kind: 'chat', minimum_severity: 'warning', is_active: 1, created_at: 0 }
  const waits = { soon: 0, usual: null, late: 60 }
  const rows = Object.entries(waits).map(([name, warnings_after_minutes]) => ({
    ...{ ...channel, id: name, name, address: `https://hooks.slack.com/services/T0/B0/${name}` },
    warnings_after_minutes,
  }))
  await store.write.insertInto('client_channels').values(rows).execute()
  const own = (sent: readonly string[]) => sent.filter((line) => line.startsWith('own'))
  assert.deepEqual(own(await run('warning')), ['own opened warning'])
  assert.deepEqual(own(await run('warning', 28)), [])
  assert.deepEqual(own(await run('warning', 3)), ['own opened warning'])
  assert.deepEqual(own(await run('warning', 26)), [])
  assert.deepEqual(own(await run('warning', 5)), ['own opened warning'])
})

testOnEveryEngine(
  'a warning that every channel is too coarse for says once that it notifies no one',
  async (store, t) => {
    const { run, site } = await watchOne(t, store, { globalWebhook: null })
    await store.write.updateTable('clients').set({ chat_webhook: null, email: null }).execute()
    const channel = {
      client_id: site.client_id,
      kind: 'chat',
      minimum_severity: 'critical',
      is_active: 1,
      created_at: 0,
    }
    await store.write
      .insertInto('client_channels')
      .values({ ...channel, id: 'night', name: 'night', address: `${SLACK}/night`, warnings_after_minutes: null })
      .execute()
    const said = async (table: 'alert_events' | 'incident_events') => {
      const kind = table === 'alert_events' ? 'suppressed' : 'critical_only'
      return (await store.read.selectFrom(table).select('text').where('kind', '=', kind).execute()).map(
        ({ text }) => text,
      )
    }
    const text = 'No notification: every channel takes critical alerts only'
    assert.deepEqual(await run('warning'), [])
    assert.deepEqual(await run('warning', 40), [])
    assert.deepEqual([await said('alert_events'), await said('incident_events')], [[text], [text]])
    assert.deepEqual(await run('critical'), ['own escalated critical'])
    assert.deepEqual(await said('alert_events'), [text])
  },
)

testOnEveryEngine('a warning that no channel took reaches a channel that takes warnings later', async (store, t) => {
  const { run, site, clock } = await watchOne(t, store, { globalWebhook: null, warningsAfterMs: 0 })
  await store.write.updateTable('clients').set({ chat_webhook: null, email: null }).execute()
  const ctx = { store, clock, actor: 'Ada' }
  const night = { kind: 'chat', name: 'night', address: `${SLACK}/night`, minimum_severity: 'critical' } as const
  const { id } = await createOwnChannel(ctx, site.client_id, night)
  assert.deepEqual(await run('warning'), [])
  assert.deepEqual(await run('warning'), [])
  await updateOwnChannel(ctx, site.client_id, id, { minimum_severity: 'warning' })
  assert.deepEqual(await run('warning', 3), ['own opened warning'])
  assert.deepEqual(await run('warning', 3), [])
  assert.deepEqual(await run('ok'), ['own resolved warning'])
})

for (const { whom, webhook, told } of [
  { whom: 'no one', webhook: null, told: ['email passed cancelled', 'email opened pending'] },
  {
    whom: 'only some',
    webhook: 'https://hooks.example/client',
    told: [
      'chat opened delivered',
      'email passed cancelled',
      'chat resolved cancelled',
      'chat opened pending',
      'email opened pending',
    ],
  },
]) {
  testLogic(
    `what is back within a silence, after it had ended before ${whom} knew of it, is notified when that is over`,
    async (store, t) => {
      const channelSettings = { globalWebhook: null, isEmailOn: true, warningsAfterMs: WAIT }
      const { find, upkeep, clock, site } = await watch(t, store, {}, { delivers: false, channelSettings })
      await store.write.updateTable('clients').set({ email: 'ops@acme.example', chat_webhook: webhook }).execute()
      await find('w')
      await store.write
        .updateTable('deliveries')
        .set({ state: 'delivered', delivered_at: clock.now() })
        .where('channel', 'like', 'chat:%')
        .execute()
      await find('o')
      const ends_at = isoTime(clock.now() + HOUR)
      await createSilence({ store, clock, actor: 'ada' }, { site_id: site.id, ends_at })
      await find('w')
      clock.advance(HOUR)
      await upkeep()
      const rows = await store.read.selectFrom('deliveries').selectAll().orderBy('id').execute()
      assert.deepEqual(
        rows.map(({ channel, kind, state }) => `${channel.split(':')[0]} ${kind} ${state}`).sort(),
        told.toSorted(),
      )
    },
  )
}

testLogic(
  'a warning that flaps before it was sent is still an opening: it waits, and is withdrawn with its end',
  async (store, t) => {
    const { run, rows } = await watchOne(t, store)
    for (const status of ['warning', 'ok', 'warning', 'ok', 'warning'] as const) await run(status)
    assert.deepEqual(emailsOf(await rows()), ['email opened pending', 'email passed cancelled'])
    for (let minute = 0; minute < 11; minute++) await run('ok')
    assert.deepEqual(emailsOf(await rows()), ['email passed cancelled', 'email passed pending'])
  },
)

testLogic('a warning that flapped before it was sent says so when it is', async (store, t) => {
  const { run } = await watchOne(t, store)
  for (const status of ['warning', 'ok', 'warning', 'ok', 'warning'] as const) await run(status)
  assert.deepEqual(emailsOf(await run('warning', 28)), ['email opened warning'])
  const [row] = await store.read
    .selectFrom('deliveries')
    .select('message')
    .where('channel', 'like', 'email:%')
    .where('state', '=', 'delivered')
    .execute()
  assert.match((JSON.parse(row?.message ?? '{}') as AlertMessage).incident?.note ?? '', /flapping/)
})

testOnEveryEngine('what is critical goes at once everywhere', async (store, t) => {
  const { run } = await watchOne(t, store)
  assert.deepEqual(await run('critical'), ['chat opened critical', 'email opened critical', 'global opened critical'])
})

testLogic('a warning that becomes critical opens as critical, at once', async (store, t) => {
  const { run } = await watchOne(t, store)
  await run('warning')
  const sent = await run('critical', 5)
  assert.deepEqual(sent, ['chat escalated critical', 'email opened critical', 'global opened critical'])
})

testLogic('so it does where the client wants no escalations', async (store, t) => {
  const { run } = await watchOne(t, store)
  await store.write.updateTable('clients').set({ notify_escalated: 0 }).execute()
  await run('warning')
  assert.deepEqual(await run('critical', 5), ['email opened critical', 'global opened critical'])
})

testLogic('where that was said, it is said of its end, too', async (store, t) => {
  const { run } = await watchOne(t, store)
  await store.write.updateTable('clients').set({ notify_escalated: 0 }).execute()
  await run('warning')
  await run('critical', 5)
  assert.deepEqual(await run('warning', 5), [])
  const ends = ['chat resolved critical', 'email resolved critical', 'global resolved critical']
  assert.deepEqual(await run('ok', 5), ends)
})

testLogic('a warning that is over before it was due is sent to webhooks alone', async (store, t) => {
  const { run, rows } = await watchOne(t, store)
  await run('warning')
  assert.deepEqual(await run('ok', 10), ['chat resolved warning'])
  assert.deepEqual(await run('ok', 60), [])
  assert.deepEqual(await rows(), [
    'chat opened delivered',
    'chat resolved delivered',
    'email passed cancelled',
    'global passed cancelled',
  ])
})

testLogic('a warning that is bad again before its end is certain is sent when it was due', async (store, t) => {
  const { run } = await watchOne(t, store, { name: 'data_volume' })
  await run('warning')
  assert.deepEqual(await run('ok', 10), [])
  assert.deepEqual(await run('warning', 10), [])
  assert.deepEqual(await run('warning', 11), ['email opened warning', 'global opened warning'])
})

testLogic('and one that is back after that, at once', async (store, t) => {
  const { run } = await watchOne(t, store, { name: 'data_volume' })
  await run('warning')
  await run('ok', 10)
  assert.deepEqual(await run('warning', 60), ['email opened warning', 'global opened warning'])
})

testLogic('once its end is certain it is never sent', async (store, t) => {
  const { run, rows } = await watchOne(t, store, { name: 'data_volume' })
  await run('warning')
  await run('ok', 10)
  assert.deepEqual(await run('ok', 100), ['chat resolved warning'])
  assert.deepEqual((await rows()).slice(2), ['email passed cancelled', 'global passed cancelled'])
})

testLogic('what lasted longer and ended in quiet hours is one message in the morning', async (store, t) => {
  const { run, clock } = await watchOne(t, store)
  await store.write.updateTable('clients').set({ quiet_from: '00:00', quiet_to: '23:00' }).execute()
  await run('warning')
  await run('ok', 60)
  clock.set(Date.parse(`${isoTime(clock.now()).slice(0, 10)}T23:00:01Z`))
  const email = emailsOf(await run('ok'))
  assert.deepEqual(email, ['email resolved warning'])
})

testLogic('what becomes due only within quiet hours waits for their end, too', async (store, t) => {
  const { run, clock } = await watchOne(t, store)
  const quietFrom = (time: string) =>
    store.write.updateTable('clients').set({ quiet_from: time, quiet_to: '23:00' }).execute()
  await quietFrom(isoTime(clock.now() + 10 * MINUTE).slice(11, 16))
  await run('warning')
  const byNight = await run('warning', 60)
  assert.deepEqual(emailsOf(byNight), [])
  clock.set(Date.parse(`${isoTime(clock.now()).slice(0, 10)}T23:00:01Z`))
  const inTheMorning = await run('warning')
  assert.deepEqual(emailsOf(inTheMorning), ['email opened warning'])
})

testLogic('so does an end that is certain only then', async (store, t) => {
  const { run, clock } = await watchOne(t, store, { name: 'data_volume' })
  await run('warning')
  await run('warning', 32)
  const quiet = { quiet_from: isoTime(clock.now() + 30 * MINUTE).slice(11, 16), quiet_to: '23:00' }
  await store.write.updateTable('clients').set(quiet).execute()
  await run('ok', 5)
  const byNight = await run('ok', 120)
  assert.deepEqual(emailsOf(byNight), [])
  clock.set(Date.parse(`${isoTime(clock.now()).slice(0, 10)}T23:00:01Z`))
  const inTheMorning = await run('ok')
  assert.deepEqual(emailsOf(inTheMorning), ['email resolved warning'])
})

testLogic('the return of an incident is sent where its end was, and nowhere else', async (store, t) => {
  const { run, rows } = await watchOne(t, store)
  await run('warning')
  await run('warning', 32)
  assert.deepEqual(await run('ok', 5), ['chat resolved warning', 'email resolved warning'])
  assert.deepEqual(await run('warning', 20), ['chat opened warning'])
  assert.deepEqual(await run('warning', 31), ['email opened warning'])
  assert.ok((await rows()).includes('global resolved cancelled'), 'its end waited for company')
})

testLogic('a message that waits is kept back within a silence, and goes after it', async (store, t) => {
  const { run, clock } = await watchOne(t, store)
  await run('warning')
  const ctx = { store, clock, actor: 'Ada' }
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  await createSilence(ctx, { incident_id: id, ends_at: isoTime(clock.now() + HOUR) })
  assert.deepEqual(await run('warning', 55), [])
  assert.deepEqual(await run('warning', 10), ['email opened warning', 'global opened warning'])
})

testOnEveryEngine(
  'what became critical in the silence escalates later where no message has said so',
  async (store, t) => {
    const { run, clock } = await watchOne(t, store, { warningsAfterMs: 0 })
    await run('warning')
    // The mail server was unavailable.
    const emails = store.write.updateTable('deliveries').where('channel', 'like', 'email:%')
    await emails.set({ state: 'pending', delivered_at: null }).execute()
    const ctx = { store, clock, actor: 'Ada' }
    const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
    await createSilence(ctx, { incident_id: id, ends_at: isoTime(clock.now() + HOUR) })
    assert.deepEqual(await run('critical'), ['email opened critical'])
    assert.deepEqual(await run('critical', 65), ['chat escalated critical', 'global escalated critical'])
    assert.deepEqual(
      await run('ok', 5),
      ['chat', 'email', 'global'].map((where) => `${where} resolved critical`),
    )
  },
)

testOnEveryEngine('what every channel knows as critical before the silence ends is reminded of', async (store, t) => {
  const { run, clock, upkeep } = await watchOne(t, store, { warningsAfterMs: 0, globalWebhook: null })
  await store.write.updateTable('clients').set({ chat_webhook: null, reminder_minutes: 120 }).execute()
  await run('warning')
  // The mail server was unavailable.
  await store.write.updateTable('deliveries').set({ state: 'pending', delivered_at: null }).execute()
  const ctx = { store, clock, actor: 'Ada' }
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  await createSilence(ctx, { incident_id: id, ends_at: isoTime(clock.now() + HOUR) })
  const due = store.write.updateTable('deliveries').set({ not_before: clock.now() + HOUR })
  await due.execute()
  await run('critical')
  await deliverAll(store, clock.now())
  assert.deepEqual(await run('critical', 65), [], 'that it is critical was in the opening')
  clock.advance(HOUR)
  await upkeep()
  const kinds = await store.read.selectFrom('deliveries').select('kind').orderBy('id').execute()
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['opened', 'reminder'],
  )
})

testLogic('what ends within the silence is not sent', async (store, t) => {
  const { run, clock, rows } = await watchOne(t, store)
  await run('warning')
  const ctx = { store, clock, actor: 'Ada' }
  const { id } = await store.read.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
  const silence = await createSilence(ctx, { incident_id: id, ends_at: isoTime(clock.now() + 5 * HOUR) })
  await run('warning', 60)
  await run('ok', 5)
  await removeSilence(ctx, silence.id)
  assert.deepEqual(await run('ok', 60), [])
  assert.deepEqual(
    (await rows()).filter((row) => !row.startsWith('chat')),
    ['email passed cancelled', 'global passed cancelled'],
  )
})

testLogic('the next on call is notified so long after the message was due', async (store, t) => {
  const { run, clock, site } = await watchOne(t, store)
  await store.write.updateTable('clients').set({ chat_webhook: null, email: null }).execute()
  const people = ['ada', 'grace'].map((name) => ({ name, email: `${name}@acme.example` }))
  const plan = { people, timezone: 'UTC', handover_weekday: 1, handover_time: '09:00', starts_on: '2026-11-16' }
  await setOnCall({ store, clock, actor: 'admin' }, site.client_id, { ...plan, escalate_after_minutes: 15 })
  assert.deepEqual(await run('warning'), [])
  assert.deepEqual(await run('warning', 31), ['global opened warning', 'own opened warning'])
  assert.deepEqual(await run('warning', 13), [])
  assert.deepEqual(await run('warning', 3), ['own reminder warning'])
})

testLogic('no one is reminded of an alert they were not notified of', async (store, t) => {
  const { run, clock } = await watchOne(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 10 }).execute()
  await run('warning')
  // The webhook has it.
  await deliverAllOn(store, 'chat', clock.now())
  const sent = await run('warning', 15)
  assert.deepEqual(sent, ['chat reminder warning'])
})

/** As the service notes what reached someone. */
async function deliverAllOn(store: Store, channel: string, now: number): Promise<void> {
  const key = (await store.read.selectFrom('deliveries').select('channel').execute()).find(
    (row) => place(row.channel) === channel,
  )?.channel as ChannelKey
  const kept = await store.write
    .updateTable('deliveries')
    .set({ state: 'kept' })
    .where('channel', '<>', key)
    .where('state', '=', 'pending')
    .returning('id')
    .execute()
  await store.write.updateTable('deliveries').set({ state: 'pending' }).where('channel', '=', key).execute()
  await deliverAll(store, now)
  const ids = kept.map(({ id }) => id)
  await store.write.updateTable('deliveries').set({ state: 'pending' }).where('id', 'in', ids).execute()
}

testOnEveryEngine(
  'people who were notified of a warning that ended within a silence learn of the end of its brief return',
  async (store, t) => {
    const { run, clock, site } = await watchOne(t, store)
    await run('warning')
    assert.deepEqual(emailsOf(await run('warning', 31)), ['email opened warning'])
    const ctx = { store, clock, actor: 'admin' }
    const silence = await createSilence(ctx, { site_id: site.id, ends_at: isoTime(clock.now() + HOUR) })
    assert.deepEqual(emailsOf(await run('ok', 5)), [])
    await removeSilence(ctx, silence.id)
    assert.deepEqual(emailsOf(await run('warning', 5)), [])
    // Ends wait for two hours, in which they may be taken back.
    assert.deepEqual(emailsOf([...(await run('ok', 5)), ...(await run('ok', 125))]), ['email resolved warning'])
  },
)
