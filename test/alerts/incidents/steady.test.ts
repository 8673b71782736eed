import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { readIncident, resolveAlert } from '../../../src/alerts/index.ts'
import { createMaintenance, removeMaintenance, updateMaintenance } from '../../../src/alerts/maintenance/maintenance.ts'
import { HOUR, isoTime, MINUTE, newId } from '../../../src/lib/index.ts'
import { alertCard } from '../../../src/notifications/cards/alert-card.ts'
import type { AlertMessage } from '../../../src/notifications/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { typeOf } from '../../probes/support.ts'
import { alertRows, watch } from '../support.ts'

/** A site with one probe of a type, bad or well as the test says. */
async function watchOne(t: TestContext, store: Store, name: string, failure_threshold = 1) {
  let isBad = false
  const type = typeOf(
    async () => ({ status: isBad ? 'critical' : 'ok', message: isBad ? 'it is bad' : 'fine', details: {} }),
    { name },
  )
  const seen = await watch(t, store, { probe_type: name, failure_threshold }, { type, delivers: false })
  /** A run so many minutes later. */
  const run = async (bad: boolean, minutes: number) => {
    isBad = bad
    seen.clock.advance((minutes - 1) * MINUTE)
    await sendDue(store, seen.clock.now())
    await seen.find('o')
    await sendDue(store, seen.clock.now())
  }
  return { ...seen, run }
}

/** What is due is sent, as a sender would. */
const sendDue = (store: Store, now: number) =>
  store.write
    .updateTable('deliveries')
    .set({ state: 'delivered', delivered_at: now })
    .where('state', '=', 'pending')
    .where('not_before', '<=', now)
    .execute()

const messages = async (store: Store): Promise<string[]> => {
  const rows = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  return rows.map(({ kind, state }) => `${kind} ${state}`)
}
const incidents = (store: Store) => store.write.selectFrom('incidents').selectAll().orderBy('id').execute()
const lastNote = async (store: Store): Promise<string | null | undefined> => {
  const rows = await store.write.selectFrom('deliveries').select('message').orderBy('id').execute()
  return (JSON.parse(rows.at(-1)?.message ?? '{}') as AlertMessage).incident?.note
}

testLogic('a volume that swings around its limit is one incident, one opening and one end', async (store, t) => {
  const { run, clock } = await watchOne(t, store, 'data_volume')
  await run(true, 1)
  await run(false, 30)
  await run(true, 40)
  assert.equal((await alertRows(store)).length, 2)
  const [incident, ...others] = await incidents(store)
  assert.deepEqual([incident?.state, incident?.resolved_at, others], ['open', null, []])
  assert.deepEqual(await messages(store), ['opened delivered', 'resolved cancelled'])
  const { timeline, evidence } = await readIncident(store, incident?.id ?? '', false)
  assert.deepEqual(
    timeline.map(({ kind }) => kind).filter((kind) => kind !== 'notified'),
    ['opened', 'resolved', 'reopened'],
  )
  assert.ok(evidence.some((line) => line.includes('is back')))

  await run(false, 30)
  const end = clock.now()
  await run(false, 60)
  await sendDue(store, clock.now())
  const held = ['opened delivered', 'resolved cancelled', 'resolved pending']
  assert.deepEqual(await messages(store), held, 'it was back once')
  await run(false, 61)
  assert.deepEqual((await messages(store)).at(-1), 'resolved delivered')
  const [ended] = await incidents(store)
  assert.deepEqual([ended?.state, ended?.resolved_at], ['resolved', end])
})

testLogic('a volume that is well again is notified after an hour and a half, with its true end', async (store, t) => {
  const { run, clock } = await watchOne(t, store, 'data_volume')
  await run(true, 1)
  await run(false, 30)
  const end = clock.now()
  await run(false, 89)
  assert.deepEqual(await messages(store), ['opened delivered', 'resolved pending'])
  await run(false, 2)
  const [, row] = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  assert.deepEqual([row?.kind, row?.state], ['resolved', 'delivered'])
  assert.equal((JSON.parse(row?.message ?? '{}') as AlertMessage).alert.resolved_at, end)
})

testOnEveryEngine('a server that is back down is the same incident, and says so once', async (store, t) => {
  const { run } = await watchOne(t, store, 'http_health')
  await run(true, 1)
  await run(false, 30)
  await run(true, 30)
  assert.deepEqual(await messages(store), ['opened delivered', 'resolved delivered', 'opened pending'])
  assert.equal(await lastNote(store), '“it is bad” is back, 30 min after its end')
  await run(false, 20)
  await run(true, 60)
  const more = ['opened delivered', 'resolved cancelled', 'flapping delivered']
  assert.deepEqual((await messages(store)).slice(2), more)
  assert.equal((await incidents(store)).length, 1)
})

testLogic('what is back is said once as many bad runs in a row as it takes find it', async (store, t) => {
  const { run } = await watchOne(t, store, 'http_health', 2)
  await run(true, 1)
  await run(true, 1)
  await run(false, 30)
  await run(true, 30)
  const ended = ['opened delivered', 'resolved delivered']
  assert.deepEqual(await messages(store), ended, 'a blip')
  const [incident, ...others] = await incidents(store)
  assert.deepEqual([incident?.state, others], ['resolved', []])
  await run(false, 1)
  await run(true, 30)
  await run(true, 1)
  assert.deepEqual(await messages(store), [...ended, 'flapping delivered'], 'which says that it is back, too')
  assert.deepEqual(
    (await incidents(store)).map(({ state }) => state),
    ['open'],
  )
  assert.equal((await alertRows(store)).filter(({ incident_id }) => incident_id === incident?.id).length, 2)
})

testLogic('what flaps again and again after pauses says so once, and again after its end', async (store, t) => {
  const { run } = await watchOne(t, store, 'http_health')
  const flap = async () => {
    for (let n = 0; n < 8; n++) await run(n % 2 === 0, 5)
    for (let n = 0; n < 11; n++) await run(false, 5)
  }
  for (let round = 0; round < 2; round++) await flap()
  const said = async () => (await messages(store)).filter((text) => !text.endsWith('cancelled'))
  const once = ['opened delivered', 'resolved delivered', 'opened delivered', 'flapping delivered']
  assert.deepEqual(await said(), [...once, 'resolved pending'])
  await run(false, 125)
  await flap()
  assert.deepEqual(await said(), [
    ...once,
    'resolved delivered',
    'opened delivered',
    'flapping delivered',
    'resolved pending',
  ])
})

testLogic(
  'what was announced as flapping says so only once, too, when it flaps again after a pause',
  async (store, t) => {
    const { run } = await watchOne(t, store, 'http_health', 2)
    const runs = async (letters: string) => {
      for (const letter of letters) await run(letter === 'c', 1)
    }
    await runs('cococc')
    assert.deepEqual(await messages(store), ['flapping delivered'])
    await runs('c'.repeat(10))
    await runs('occoccoccocc')
    assert.deepEqual(await messages(store), ['flapping delivered'])
  },
)

testLogic(
  'an end within planned work is notified when that is over, unless it is bad again by then',
  async (store, t) => {
    const { run, clock, site } = await watchOne(t, store, 'http_health')
    await run(true, 1)
    const [began, over] = [clock.now(), clock.now() + 2 * HOUR]
    const work = {
      id: newId(),
      site_id: site.id,
      title: 'Move',
      kind: 'once',
      is_active: 1,
      starts_at: began,
      ends_at: over,
    }
    await store.write
      .insertInto('maintenance')
      .values({ ...work, created_at: began, created_by: 'test' })
      .execute()
    await run(false, 30)
    assert.deepEqual(await messages(store), ['opened delivered', 'resolved pending'])
    const [, end] = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
    assert.equal(end?.not_before, over)
    await run(true, 10)
    assert.deepEqual(await messages(store), ['opened delivered', 'resolved cancelled'])
    await run(false, 10)
    await run(false, 3 * 60)
    assert.deepEqual((await messages(store)).slice(1), ['resolved cancelled', 'resolved delivered'])
  },
)

testOnEveryEngine('an end that waits for work follows it when it is moved', async (store, t) => {
  const { run, clock, site } = await watchOne(t, store, 'data_volume')
  await run(true, 1)
  await run(true, 1)
  const ctx = { store, clock, actor: 'Ada' }
  const plan = (hours: number) => {
    const [starts_at, ends_at] = [isoTime(clock.now()), isoTime(clock.now() + hours * HOUR)]
    return createMaintenance(ctx, { site_id: site.id, kind: 'once', starts_at, ends_at })
  }
  const [first, second] = [await plan(3), await plan(5)]
  await run(false, 10)
  const resolvedAt = clock.now()
  const due = async () => (await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()).at(-1)
  assert.equal((await due())?.not_before, second.ends_at)
  const longer = isoTime((second.ends_at ?? 0) + HOUR)
  await updateMaintenance(ctx, second.id, { ends_at: longer })
  assert.equal((await due())?.not_before, Date.parse(longer), 'it takes longer')
  await updateMaintenance(ctx, second.id, { is_active: false })
  assert.equal((await due())?.not_before, first.ends_at, 'other work goes on')
  await removeMaintenance(ctx, first.id)
  assert.equal((await due())?.not_before, resolvedAt + 90 * MINUTE, 'what is estimated waits for whether it is true')
  await run(false, 90)
  assert.equal((await messages(store)).at(-1), 'resolved delivered')
})

for (const [what, before, within, ofClient] of [
  ['a warning', 'w', 'o', '16:00'],
  ['what was critical and eased', 'c', 'wo', '11:00'],
] as const) {
  testOnEveryEngine(`the end of ${what} follows work that is cut short on the eve of quiet hours`, async (store, t) => {
    const { find, clock, site } = await watch(t, store, {}, { delivers: false })
    await store.write.updateTable('sites').set({ timezone: 'UTC' }).execute()
    const client = { email: 'ops@acme.example', quiet_from: '10:30', quiet_to: '16:00' }
    await store.write.updateTable('clients').set(client).execute()
    clock.set('2026-11-20T10:00:00Z')
    await find(before)
    await sendDue(store, clock.now() + MINUTE)
    const ctx = { store, clock, actor: 'Ada' }
    const [starts_at, ends_at] = [isoTime(clock.now()), '2026-11-20T13:00:00Z']
    const work = await createMaintenance(ctx, { site_id: site.id, kind: 'once', starts_at, ends_at })
    await find(within)
    const due = async () => {
      const ends = store.read.selectFrom('deliveries').select(['channel', 'not_before']).where('kind', '=', 'resolved')
      const rows = await ends.orderBy('channel').execute()
      return rows.map(({ channel, not_before }) => `${channel.split(':')[0]} ${isoTime(not_before).slice(11, 16)}`)
    }
    assert.deepEqual(await due(), [`email ${ofClient === '11:00' ? '13:00' : ofClient}`, 'global 13:00'])
    await updateMaintenance(ctx, work.id, { ends_at: '2026-11-20T11:00:00Z' })
    assert.deepEqual(await due(), [`email ${ofClient}`, 'global 11:00'])
  })
}

testLogic('of what is over people read for how much of its time no one looked', async (store, t) => {
  const { run, clock } = await watchOne(t, store, 'http_health')
  await run(true, 1)
  const began_at = clock.now() + HOUR
  await store.write
    .insertInto('outages')
    .values({ began_at, ended_at: began_at + 3 * HOUR })
    .execute()
  await run(false, 20 * 60)
  const [incident] = await incidents(store)
  assert.equal((await readIncident(store, incident?.id ?? '', false)).down_ms, 3 * HOUR)
  const [, end] = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  const { what } = alertCard(JSON.parse(end?.message ?? '{}') as AlertMessage, { publicUrl: '', at: clock.now() })
  assert.equal(what, 'Fine again after 20 h, with Tagwarden down for 3 h')
})

testLogic('what is bad again after four hours is another incident', async (store, t) => {
  const { run } = await watchOne(t, store, 'http_health')
  await run(true, 1)
  await run(false, 30)
  await run(true, (4 * HOUR) / MINUTE + 1)
  assert.deepEqual(
    (await incidents(store)).map(({ state }) => state),
    ['resolved', 'open'],
  )
})

testLogic('what someone resolved by hand and is bad again is another incident', async (store, t) => {
  const { run, clock, alerts } = await watchOne(t, store, 'data_volume')
  await run(true, 1)
  const [alert] = await alertRows(store)
  const ctx = { store, clock, actor: 'Ada' }
  await resolveAlert(ctx, alerts.channelSettings, alert?.id ?? '', { by: 'Ada' })
  assert.deepEqual(await messages(store), ['opened pending', 'resolved pending'])
  const [, end] = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  assert.ok((end?.not_before ?? 0) <= clock.now() + MINUTE, 'who resolves it is told at once')
  await run(true, 10)
  assert.deepEqual(
    (await incidents(store)).map(({ state }) => state),
    ['resolved', 'open'],
  )
})
