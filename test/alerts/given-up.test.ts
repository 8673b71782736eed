import assert from 'node:assert/strict'
import { DAY, HOUR, newId } from '../../src/lib/index.ts'
import { createOwnChannel, deleteOwnChannel } from '../../src/notifications/api/own-channels.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { typeOf } from '../probes/support.ts'
import { deliverAll, outbox, watch } from './support.ts'

const kinds = async (store: Store) => (await outbox(store)).map(({ kind }) => kind)

const giveUp = (store: Store) =>
  store.write.updateTable('deliveries').set({ state: 'failed' }).where('state', '=', 'pending').execute()

/** Makes an incident of another client that people know of; the result reads what is noted of its messages. */
async function knownIncident(store: Store, at: number) {
  const noted = { announced_alert_id: newId(), last_announced_at: at, last_notified_at: at + 1 }
  const { id } = await insertIncident(store, await insertSite(store), at, { ...noted, notified_severity: 'critical' })
  return () =>
    store.read
      .selectFrom('incidents')
      .select(['announced_alert_id', 'last_announced_at', 'notified_severity'])
      .where('id', '=', id)
      .executeTakeFirst()
}

testOnEveryEngine(
  'what lasts is announced when the alert of the message that was given up is over',
  async (store, t) => {
    const over = new Set<string>()
    const type = typeOf(
      async ({ probe }) => ({
        status: over.has(probe.id) ? 'ok' : 'critical',
        message: `${probe.id} does not answer`,
        details: {},
      }),
      { name: 'http_health' },
    )
    const { find, upkeep, site, clock } = await watch(
      t,
      store,
      { probe_type: 'http_health' },
      { type, delivers: false },
    )
    await insertProbe(store, site.id, { probe_type: 'http_health' })
    await find('c')
    const voice = store.read
      .selectFrom('incidents')
      .innerJoin('alerts', 'alerts.id', 'incidents.announced_alert_id')
      .select(['alerts.probe_id', 'incidents.id', 'incidents.announced_at'])
    const first = await voice.executeTakeFirstOrThrow()
    over.add(first.probe_id)
    await find('c')
    const known = await knownIncident(store, clock.now())
    const before = await known()
    clock.advance(DAY)
    await giveUp(store)
    await upkeep()
    assert.deepEqual(await known(), before, 'nothing is forgotten about another incident')
    await find('c')
    assert.deepEqual(await kinds(store), ['opened', 'opened'])
    const second = await voice.executeTakeFirstOrThrow()
    assert.deepEqual([second.id, second.announced_at], [first.id, first.announced_at], 'it is still the same incident')
    assert.notEqual(second.probe_id, first.probe_id)
    await deliverAll(store, clock.now())
    clock.advance(DAY)
    await upkeep()
    await find('c')
    assert.equal((await kinds(store)).length, 2, 'it is known now')
  },
)

testOnEveryEngine('an escalation that was given up everywhere is sent again', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
  await find('w')
  await deliverAll(store, clock.now())
  await find('c')
  await giveUp(store)
  await upkeep()
  await find('c')
  assert.deepEqual(await kinds(store), ['opened', 'escalated'], 'once a day')
  const known = await knownIncident(store, clock.now())
  const before = await known()
  clock.advance(DAY)
  await upkeep()
  assert.deepEqual(await known(), before, 'nothing is forgotten about another incident')
  await find('c')
  assert.deepEqual(await kinds(store), ['opened', 'escalated', 'escalated'])
  await deliverAll(store, clock.now())
  clock.advance(DAY)
  await upkeep()
  await find('c')
  assert.equal((await kinds(store)).length, 3)
})

testOnEveryEngine('what lasts is announced when the only channel was deleted before its turn', async (store, t) => {
  const channelSettings = { globalWebhook: null, isEmailOn: true }
  const { find, upkeep, site, clock } = await watch(t, store, {}, { channelSettings, delivers: false })
  const ctx = { store, clock, actor: 'test' }
  const channel = (address: string) => createOwnChannel(ctx, site.client_id, { kind: 'email', name: address, address })
  const { id } = await channel('old@acme.example')
  await find('c')
  await deleteOwnChannel(ctx, site.client_id, id)
  // As the sender does when it is the message's turn.
  await store.write.updateTable('deliveries').set({ state: 'cancelled' }).execute()
  await upkeep()
  await find('c')
  assert.deepEqual(await kinds(store), ['opened'], 'there is no one to notify')
  const added = await channel('new@acme.example')
  await upkeep()
  assert.deepEqual(
    (await outbox(store)).map(({ kind, channel: key }) => [kind, key.endsWith(added.id)]),
    [
      ['opened', false],
      ['opened', true],
    ],
  )
})

testOnEveryEngine('that an incident is back is said again when that was given up everywhere', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
  await find('c')
  await deliverAll(store, clock.now())
  await find('o')
  await deliverAll(store, clock.now())
  clock.advance(HOUR)
  await find('c')
  assert.deepEqual(await kinds(store), ['opened', 'resolved', 'opened'])
  await giveUp(store)
  clock.advance(DAY)
  await upkeep()
  await find('c')
  assert.deepEqual(await kinds(store), ['opened', 'resolved', 'opened', 'opened'])
  assert.match((await outbox(store)).at(-1)?.incident?.note ?? '', /is back$/)
  await deliverAll(store, clock.now())
  clock.advance(DAY)
  await upkeep()
  await find('c')
  assert.equal((await kinds(store)).length, 4)
})

testOnEveryEngine('what flaps and was given up is announced even if its latest results are good', async (store, t) => {
  const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
  await find('cocococo')
  const before = await kinds(store)
  await giveUp(store)
  clock.advance(DAY)
  await upkeep()
  await find('o')
  assert.deepEqual((await kinds(store)).slice(before.length), ['flapping'])
  await deliverAll(store, clock.now())
  clock.advance(DAY)
  await upkeep()
  await find('oc')
  assert.equal((await kinds(store)).length, before.length + 1, 'it is known now')
})

testLogic(
  'what is back, flaps and becomes critical is back, when that was given up while it was a warning',
  async (store, t) => {
    const { find, upkeep, clock } = await watch(t, store, {}, { delivers: false })
    for (const letter of 'wo') {
      await find(letter)
      await deliverAll(store, clock.now())
    }
    clock.advance(HOUR)
    await find('wowowow')
    await giveUp(store)
    clock.advance(DAY)
    await upkeep()
    const before = (await kinds(store)).length
    await find('c')
    const said = (await outbox(store)).slice(before)
    assert.deepEqual(
      said.map(({ kind, alert }) => `${kind} ${alert.severity}`),
      ['opened critical'],
    )
    assert.match(said[0]?.incident?.note ?? '', /is back$/)
    await deliverAll(store, clock.now())
    await find('cc')
    assert.equal((await kinds(store)).length, before + 1)
  },
)
