import assert from 'node:assert/strict'
import { createSilence } from '../../src/alerts/silences/silences.ts'
import { DAY, HOUR, MINUTE, newId } from '../../src/lib/index.ts'
import { hooksInOrder } from '../../src/management/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { alertRows, deliverAll, outbox, timeline, watch } from './support.ts'

testLogic('reminders come as often as the client wants, until someone acknowledges', async (store, t) => {
  const { find, upkeep, site, clock } = await watch(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).where('id', '=', site.client_id).execute()
  await find('c')
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  await upkeep()
  clock.advance(29 * MINUTE)
  await upkeep()
  assert.deepEqual(await kinds(), ['opened'])
  clock.advance(MINUTE)
  await upkeep()
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder'])
  await store.write.updateTable('alerts').set({ state: 'acknowledged' }).execute()
  clock.advance(HOUR)
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder'])
})

testOnEveryEngine('a clock that was a day ahead holds back no reminders once it is right', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).execute()
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind).sort()
  clock.advance(DAY)
  await find('c')
  clock.advance(-DAY)
  await upkeep()
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder'])
  clock.advance(30 * MINUTE)
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder', 'reminder'])
})

testOnEveryEngine('after a downtime no one is reminded of what no probe has looked at again', async (store, t) => {
  const { find, upkeep, alerts, clock } = await watch(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).execute()
  await find('c')
  clock.advance(6 * HOUR)
  for (const loop of alerts.loops) await loop.tick()
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  assert.deepEqual(await kinds(), ['opened'])
  await find('c')
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder'])
  clock.advance(6 * HOUR)
  for (const loop of alerts.loops) await loop.tick()
  await find('o')
  assert.deepEqual(await kinds(), ['opened', 'reminder', 'resolved'])
})

testOnEveryEngine('what lasts is notified again when its message was given up everywhere', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  const giveUp = () => store.write.updateTable('deliveries').set({ state: 'failed' }).execute()
  await find('c')
  clock.advance(DAY)
  await upkeep()
  await find('c')
  assert.deepEqual(await kinds(), ['opened'], 'it is still tried')
  await giveUp()
  await upkeep()
  await find('c')
  assert.deepEqual(await kinds(), ['opened', 'opened'])
  await giveUp()
  await upkeep()
  await find('co')
  assert.deepEqual(await kinds(), ['opened', 'opened', 'resolved'], 'once a day')
})

testOnEveryEngine('reminders resume when one was given up everywhere', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).execute()
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  await find('c')
  await deliverAll(store, clock.now())
  clock.advance(HOUR)
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder'])
  await store.write.updateTable('deliveries').set({ state: 'failed' }).where('state', '=', 'pending').execute()
  clock.advance(DAY)
  await upkeep()
  assert.deepEqual(await kinds(), ['opened', 'reminder', 'reminder'])
})

for (const [what, table] of [
  ['probe', 'probes'],
  ['site', 'sites'],
  ['client', 'clients'],
] as const) {
  testOnEveryEngine(`an alert of a paused ${what} closes without a message, and the next is new`, async (store, t) => {
    const { find, upkeep, clock } = await watch(t, store)
    await find('c')
    await upkeep()
    assert.equal((await alertRows(store))[0]?.state, 'open')
    await store.write.updateTable(table).set({ is_active: 0 }).execute()
    await upkeep()
    const [alert] = await alertRows(store)
    assert.deepEqual([alert?.state, alert?.resolution, alert?.resolved_at], ['resolved', 'probe_removed', clock.now()])
    assert.deepEqual(await timeline(store, alert?.id ?? ''), ['opened', 'notified', 'resolved'])
    assert.deepEqual(
      (await outbox(store)).map(({ kind }) => kind),
      ['opened'],
    )
    await store.write.updateTable(table).set({ is_active: 1 }).execute()
    clock.advance(HOUR)
    await find('c')
    const again = (await alertRows(store)).at(-1)
    assert.equal(again?.started_at, clock.now(), 'no one looked meanwhile')
  })
}

testLogic('an alert ends when its probe is deleted, and with it the message that waits', async (store, t) => {
  const channelSettings = {
    globalWebhook: 'https://hooks.slack.com/services/T0/B0/x',
    isEmailOn: true,
    warningsAfterMs: 30 * MINUTE,
  }
  const { find, upkeep, probe } = await watch(t, store, {}, { channelSettings, delivers: false })
  await find('w')
  await store.write.deleteFrom('probes').where('id', '=', probe.id).execute()
  await upkeep()
  assert.equal((await alertRows(store))[0]?.resolution, 'probe_removed')
  const states = await store.read.selectFrom('deliveries').select(['kind', 'state']).execute()
  assert.deepEqual(states, [{ kind: 'passed', state: 'cancelled' }])
})

testLogic('hundreds of alerts are seen to in one round', async (store, t) => {
  const { find, upkeep, site } = await watch(t, store)
  for (let count = 0; count < 210; count++) await insertProbe(store, site.id)
  await find('c')
  await store.write.updateTable('sites').set({ is_active: 0 }).execute()
  await upkeep()
  assert.equal((await alertRows(store)).filter(({ state }) => state === 'resolved').length, 211)
})

testOnEveryEngine('alerts are kept for their days after they resolved, open ones without limit', async (store, t) => {
  const { find, upkeep, site, clock } = await watch(t, store)
  await find('co')
  // By then what is bad again is another incident, which keeps none of the first one's alerts.
  clock.advance(5 * HOUR)
  const second = await insertProbe(store, site.id)
  await find('c')
  clock.advance(90 * DAY - 5 * HOUR - 2 * MINUTE)
  await upkeep()
  assert.equal((await alertRows(store)).length, 3)
  clock.advance(2 * MINUTE)
  await upkeep()
  const left = await alertRows(store)
  assert.equal(left.length, 2)
  assert.ok(left.some(({ probe_id }) => probe_id === second.id))
  const events = await store.write.selectFrom('alert_events').select('alert_id').distinct().execute()
  assert.equal(events.length, 2)
})

testOnEveryEngine(
  'deleting a site takes its alerts, their messages, silences and maintenance along',
  async (store, t) => {
    const { find, alerts, node, site, probe, clock } = await watch(t, store)
    await find('c')
    const silence = { starts_at: clock.now(), ends_at: clock.now() + HOUR, created_at: clock.now(), created_by: 'test' }
    await store.write
      .insertInto('silences')
      .values([
        { id: 'a', site_id: site.id, ...silence },
        { id: 'b', probe_id: probe.id, ...silence },
        { id: 'c', client_id: site.client_id, ...silence },
      ])
      .execute()
    const hooks = hooksInOrder([alerts.deletionHooks, node.probes.deletionHooks])
    await store.write.transaction().execute((trx) => hooks.removeOfSites(trx, [site]))
    for (const table of ['alerts', 'alert_events', 'deliveries', 'probes'] as const) {
      assert.deepEqual(await store.write.selectFrom(table).selectAll().execute(), [], table)
    }
    const silences = () => store.write.selectFrom('silences').select('id').execute()
    assert.deepEqual(await silences(), [{ id: 'c' }])
    await store.write.transaction().execute((trx) => hooks.removeOfClient(trx, site.client_id))
    assert.deepEqual(await silences(), [])
  },
)

testOnEveryEngine(
  'a silence until all is resolved ends when the site of the last alert is deleted',
  async (store, t) => {
    const { find, upkeep, alerts, node, site, clock } = await watch(t, store)
    await find('c')
    const ctx = { store, clock, actor: 'test' }
    const { id } = await createSilence(ctx, { client_id: site.client_id, until_resolved: true })
    const endsAt = async () =>
      (await store.read.selectFrom('silences').select('ends_at').where('id', '=', id).executeTakeFirstOrThrow()).ends_at
    clock.advance(MINUTE)
    await upkeep()
    assert.ok((await endsAt()) > clock.now())
    const hooks = hooksInOrder([alerts.deletionHooks, node.probes.deletionHooks])
    await store.write.transaction().execute((trx) => hooks.removeOfSites(trx, [site]))
    await upkeep()
    assert.equal(await endsAt(), clock.now(), 'it would hide the next incident of the client')
  },
)

testLogic(
  'an alert whose probe is gone is resolved, and one whose probe is there and not due is left alone',
  async (store, t) => {
    const { upkeep, site, clock } = await watch(t, store)
    const kept = await insertAlert(store, site, clock.now())
    const gone = await insertAlert(store, site, clock.now(), { probe_id: newId() })
    await upkeep()
    const states = (await alertRows(store)).map(({ id, state }) => [id, state])
    assert.deepEqual(Object.fromEntries(states), { [kept.id]: 'open', [gone.id]: 'resolved' })
  },
)
