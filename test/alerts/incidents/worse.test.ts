import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { acknowledgeAlert } from '../../../src/alerts/index.ts'
import { createSilence } from '../../../src/alerts/silences/silences.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import type { AlertMessage } from '../../../src/notifications/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { typeOf } from '../../probes/support.ts'
import { alertRows, deliverAll, outbox, watch } from '../support.ts'
import { incidents, messages, watchServer } from './server-support.ts'

type Status = 'ok' | 'warning' | 'critical'

/** What was written for each channel, as `email escalated critical`. */
async function written(store: Store): Promise<string[]> {
  const severities = (await outbox(store)).map(
    ({ channel, kind, alert }) => `${place(channel)} ${kind} ${alert.severity}`,
  )
  return severities.sort()
}
const place = (channel: string): string => channel.split(':')[0] ?? ''

testOnEveryEngine(
  'a slow server that is down is said to be critical on every channel, also where someone has acknowledged it',
  async (store, t) => {
    const { health, clock, alerts, site } = await watchServer(t, store)
    await store.write
      .updateTable('clients')
      .set({ chat_webhook: 'https://hooks.slack.com/services/T0/B0/client', email: 'ops@acme.example' })
      .execute()
    const endpoint = 'https://events.pagerduty.com/v2/enqueue'
    await store.write
      .insertInto('client_channels')
      .values({
        ...{ id: 'p', client_id: site.client_id, kind: 'pagerduty', name: 'Pager', created_at: 0, is_active: 1 },
        ...{ minimum_severity: 'warning', address: `pagerduty+${endpoint}#0123456789abcdef` },
      })
      .execute()
    await health('warning')
    const [alert] = await alertRows(store)
    const ctx = { store, clock, actor: 'Ada' }
    await acknowledgeAlert(ctx, alerts.channelSettings, alert?.id ?? '', { by: 'Ada' })
    const before = (await written(store)).length
    for (const status of ['warning', 'critical', 'critical', 'warning', 'critical'] as const) {
      clock.advance(MINUTE)
      await health(status)
    }
    const escalated = (await written(store)).filter((line) => line.includes('escalated'))
    const everywhere = ['chat', 'email', 'global', 'own'].map((channel) => `${channel} escalated critical`)
    assert.deepEqual(escalated, everywhere)
    assert.equal((await written(store)).length, before + everywhere.length, 'and nothing else')
  },
)

testOnEveryEngine(
  'a server that flaps between slow and well, and is down, is said to be critical',
  async (store, t) => {
    const { health, clock, probe } = await watchServer(t, store)
    await store.write.updateTable('probes').set({ recovery_threshold: 2 }).where('id', '=', probe.id).execute()
    for (const status of [
      'warning',
      'ok',
      'warning',
      'ok',
      'warning',
      'critical',
      'critical',
      'ok',
      'critical',
    ] as const) {
      clock.advance(MINUTE)
      await health(status)
    }
    const said = (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity}`)
    assert.deepEqual(said, ['opened warning', 'flapping warning', 'escalated critical'])
  },
)

testLogic(
  'a server that is down again and again is said to flap once, though each time is another alert',
  async (store, t) => {
    const { health, clock } = await watchServer(t, store)
    const said = async () => {
      await deliverAll(store, clock.now())
      return (await outbox(store)).map(({ kind }) => kind)
    }
    for (const status of ['ok', 'critical', 'ok', 'critical'] as const) {
      clock.advance(10 * MINUTE)
      await health(status)
      await said()
    }
    assert.deepEqual(await said(), ['opened', 'resolved', 'opened'])
    for (let round = 0; round < 6; round++) {
      clock.advance(10 * MINUTE)
      await health(round % 2 === 0 ? 'ok' : 'critical')
    }
    assert.deepEqual(await said(), ['opened', 'resolved', 'opened', 'flapping'])
  },
)

testLogic('a server that was down, and is back as slow, may be down once more', async (store, t) => {
  const { health, clock } = await watchServer(t, store)
  const minutes: readonly (readonly [Status, number])[] = [
    ['critical', 1],
    ['ok', 10],
    ['warning', 60],
    ['critical', 5],
    ['critical', 1],
  ]
  for (const [status, after] of minutes) {
    clock.advance(after * MINUTE)
    await health(status)
  }
  assert.equal((await incidents(store)).length, 1)
  assert.deepEqual(await messages(store), [
    'opened endpoint critical',
    'resolved endpoint critical',
    'opened endpoint warning',
    'escalated endpoint critical',
  ])
})

testLogic('one that was slow, and is back as down, is one message', async (store, t) => {
  const { health, clock } = await watchServer(t, store)
  await health('warning')
  clock.advance(10 * MINUTE)
  await health('ok')
  clock.advance(HOUR)
  await health('critical')
  clock.advance(MINUTE)
  await health('critical')
  const said = (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity}`)
  assert.deepEqual(said, ['opened warning', 'resolved warning', 'opened critical'])
})

/** A site whose volume is estimated, so that its ends wait; the client has an e-mail, and a chat hears of all clients. */
async function watchVolume(t: TestContext, store: Store) {
  let status: Status = 'ok'
  const type = typeOf(async () => ({ status, message: `it is ${status}`, details: {} }), { name: 'data_volume' })
  const channelSettings = { globalWebhook: 'https://hooks.slack.com/services/T0/B0/all', isEmailOn: true }
  const seen = await watch(t, store, { probe_type: 'data_volume' }, { type, delivers: false, channelSettings })
  await store.write.updateTable('clients').set({ email: 'ops@acme.example' }).execute()
  const { clock } = seen
  return async (found: Status, minutes: number): Promise<string[]> => {
    clock.advance((minutes - 1) * MINUTE)
    const sent = await sendDue(store, clock.now())
    status = found
    await seen.find('o')
    clock.advance(11_000)
    return [...sent, ...(await sendDue(store, clock.now()))]
  }
}

/** What is due is sent, as a sender would. */
async function sendDue(store: Store, now: number): Promise<string[]> {
  const due = await store.write
    .updateTable('deliveries')
    .set({ state: 'delivered', delivered_at: now })
    .where('state', '=', 'pending')
    .where('not_before', '<=', now)
    .returningAll()
    .execute()
  const severityIn = (message: string) => (JSON.parse(message) as AlertMessage).alert.severity
  return due.map(({ channel, kind, message }) => `${place(channel)} ${kind} ${severityIn(message)}`).sort()
}

testLogic(
  'a channel whose end was withdrawn is notified that it is critical now, and not that it is back',
  async (store, t) => {
    const run = await watchVolume(t, store)
    assert.deepEqual(await run('warning', 1), ['email opened warning', 'global opened warning'])
    assert.deepEqual(await run('ok', 30), [])
    assert.deepEqual(await run('critical', 40), ['email escalated critical', 'global escalated critical'])
  },
)

testOnEveryEngine(
  'who knows of its end reads at once how bad it is, the others that it became so',
  async (store, t) => {
    const run = await watchVolume(t, store)
    await run('warning', 1)
    await run('ok', 30)
    assert.deepEqual(await run('ok', 92), ['email resolved warning'], 'on the other the end waits for company')
    assert.deepEqual(await run('critical', 60), ['email opened critical', 'global escalated critical'])
  },
)

for (const letters of ['cwo', 'wcwo']) {
  testOnEveryEngine(
    `the end of what was critical, and then a warning, says what was critical (${letters})`,
    async (store, t) => {
      const { find } = await watch(t, store)
      await find(letters)
      const end = (await outbox(store)).at(-1)
      const { severity, title, message } = end?.alert ?? {}
      assert.deepEqual(
        [end?.kind, severity, title, message],
        ['resolved', 'critical', 'It is critical', 'It is critical'],
      )
    },
  )
}

testLogic('that it is critical once more is news where its end was sent, and nowhere else', async (store, t) => {
  const run = await watchVolume(t, store)
  await run('critical', 1)
  await run('ok', 30)
  assert.deepEqual(await run('ok', 92), ['email resolved critical'])
  assert.deepEqual(await run('warning', 60), ['email opened warning'])
  assert.deepEqual(await run('critical', 5), ['email escalated critical'])
})

testLogic(
  'that it is critical is said once, although a channel that is no more knows of an earlier end',
  async (store, t) => {
    const run = await watchVolume(t, store)
    const { id: client_id } = await store.write.selectFrom('clients').select('id').executeTakeFirstOrThrow()
    const own = { id: 'own', client_id, kind: 'webhook', name: 'Ours', address: 'https://hooks.example/ours' }
    await store.write
      .insertInto('client_channels')
      .values({ ...own, minimum_severity: 'warning', is_active: 1, created_at: 0 })
      .execute()
    await run('critical', 1)
    await run('ok', 30)
    assert.deepEqual(await run('ok', 92), ['email resolved critical', 'own resolved critical'])
    await store.write.deleteFrom('client_channels').execute()
    // So many that it does not flap.
    for (let n = 0; n < 20; n++) await run('ok', 1)
    assert.deepEqual(await run('critical', 60), ['email opened critical'])
    await run('ok', 30)
    assert.deepEqual(await run('warning', 40), [], 'whose end was taken back')
    assert.deepEqual(await run('critical', 5), [])
  },
)

testOnEveryEngine('a warning that waits is not sent for what is not confirmed to be critical', async (store, t) => {
  const globalWebhook = 'https://hooks.slack.com/services/T0/B0/all'
  const channelSettings = { globalWebhook, isEmailOn: true, warningsAfterMs: 30 * MINUTE }
  const { health, infra, clock, probe } = await watchServer(t, store, channelSettings)
  await store.write.updateTable('probes').set({ failure_threshold: 2 }).where('id', '=', probe.id).execute()
  await infra('warning')
  clock.advance(MINUTE)
  await health('critical')
  clock.advance(MINUTE)
  assert.deepEqual(await sendDue(store, clock.now()), [])
  await health('critical')
  clock.advance(11_000)
  assert.deepEqual(await sendDue(store, clock.now()), ['global opened critical'])
  clock.advance(HOUR)
  await health('critical')
  assert.deepEqual(await sendDue(store, clock.now()), [], 'once')
})

testLogic('one critical run of a probe that takes two makes no warning critical, the second does', async (store, t) => {
  const { health, infra, clock, probe } = await watchServer(t, store)
  await store.write.updateTable('probes').set({ failure_threshold: 2 }).where('id', '=', probe.id).execute()
  const said = async () => (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity} ${alert.title}`)
  await health('critical')
  clock.advance(MINUTE)
  await infra('warning')
  assert.deepEqual(await said(), ['opened warning hosting warning'])
  clock.advance(MINUTE)
  await health('critical')
  assert.deepEqual((await said()).slice(1), ['escalated critical endpoint critical'])
})

testLogic('the end of what a reminder called critical does so, too, where no escalation did', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store)
  await store.write.updateTable('clients').set({ notify_escalated: 0, reminder_minutes: 30 }).execute()
  await find('wc')
  clock.advance(31 * MINUTE)
  await upkeep()
  await find('wo')
  assert.deepEqual(await written(store), [
    'global opened warning',
    'global reminder critical',
    'global resolved critical',
  ])
})

for (const { said, settings } of [
  { said: 'reminder', settings: undefined },
  {
    said: 'opened',
    settings: { globalWebhook: 'https://hooks.slack.com/services/T0/B0/all', isEmailOn: true, warningsAfterMs: HOUR },
  },
]) {
  testLogic(
    `what is said to be critical (${said}) because of a silenced alert ends so, though that eased in its silence`,
    async (store, t) => {
      const { health, infra, clock, probe, upkeep } = await watchServer(t, store, settings)
      await store.write.updateTable('clients').set({ reminder_minutes: 30 }).execute()
      await infra('warning')
      const ends_at = isoTime(clock.now() + 5 * HOUR)
      await createSilence({ store, clock, actor: 'admin' }, { probe_id: probe.id, ends_at })
      await health('critical')
      clock.advance(31 * MINUTE)
      await upkeep()
      await deliverAll(store, clock.now())
      for (const look of [() => health('warning'), () => health('ok'), () => infra('ok')]) {
        clock.advance(MINUTE)
        await look()
      }
      const lines = await written(store)
      assert.deepEqual(
        [lines.includes(`global ${said} critical`), lines.filter((line) => line.includes('resolved'))],
        [true, ['global resolved critical']],
      )
      const [incident] = await incidents(store)
      const title = settings === undefined ? 'endpoint critical' : 'hosting warning'
      assert.deepEqual([incident?.severity, incident?.title], ['critical', title])

      clock.advance(10 * MINUTE)
      await deliverAll(store, clock.now())
      clock.advance(HOUR)
      await infra('warning')
      clock.advance(2 * HOUR)
      await infra('ok')
      assert.equal((await outbox(store)).at(-1)?.alert.severity, 'warning', 'what is back is as bad as it is now')
    },
  )
}

testOnEveryEngine('what eased is shown as it is while it lasts, and at its end as bad as it was', async (store, t) => {
  const { health, clock } = await watchServer(t, store)
  const shown = async () =>
    (await incidents(store)).map(({ title, severity, state }) => `${title} ${severity} ${state}`)
  for (const status of ['critical', 'warning'] as const) {
    await health(status)
    clock.advance(MINUTE)
  }
  assert.deepEqual(await shown(), ['endpoint warning warning open'])
  await health('ok')
  assert.equal((await outbox(store)).at(-1)?.alert.title, 'endpoint critical', 'as its last message says')
  assert.deepEqual(await shown(), ['endpoint critical critical resolved'])
  clock.advance(10 * MINUTE)
  await health('warning')
  assert.deepEqual(await shown(), ['endpoint warning warning open'], 'and as it is when it is back')
})

testLogic('what was said to flap as critical ends as critical, however mild it was at last', async (store, t) => {
  const { find } = await watch(t, store, {}, { delivers: false })
  await find('wowoc')
  const said = async () => (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.severity}`)
  assert.equal((await said()).at(-1), 'flapping critical')
  await find(`w${'o'.repeat(12)}`)
  assert.equal((await said()).at(-1), 'resolved critical')
})

testOnEveryEngine(
  'a channel that was told of a warning only is told once that it is critical again, though others knew it',
  async (store, t) => {
    const { health, clock } = await watchServer(t, store)
    await store.write.updateTable('clients').set({ email: 'ops@acme.example' }).execute()
    const result = async (status: Status) => {
      clock.advance(MINUTE)
      await health(status)
    }
    await result('critical')
    await result('warning')
    // As what waited at a dead address is sent once it is mended, with what the incident has become meanwhile.
    const [late] = await store.write.selectFrom('deliveries').selectAll().where('channel', 'like', 'email:%').execute()
    assert.ok(late)
    const opening = JSON.parse(late.message) as AlertMessage
    const message = JSON.stringify({ ...opening, alert: { ...opening.alert, severity: 'warning' } })
    await store.write.updateTable('deliveries').set({ message }).where('id', '=', late.id).execute()
    await deliverAll(store, clock.now())
    for (const status of ['critical', 'critical', 'warning', 'critical'] as const) await result(status)
    assert.deepEqual(await written(store), [
      'email escalated critical',
      'email opened warning',
      'global opened critical',
    ])
  },
)
