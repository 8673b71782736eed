import assert from 'node:assert/strict'
import { createMaintenance } from '../../../src/alerts/maintenance/maintenance.ts'
import { createSilence, listSilences } from '../../../src/alerts/silences/silences.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import type { Context } from '../../../src/management/index.ts'
import type { Store } from '../../../src/store/index.ts'
import type { TestClock } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertIncident } from '../../../testkit/incidents.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { alertRows, outbox } from '../support.ts'
import { incidents, messages, watchServer } from './server-support.ts'

const silence = (store: Store, clock: TestClock, incident_id: string, ms = HOUR) =>
  createSilence({ store, clock, actor: 'admin' }, { incident_id, ends_at: isoTime(clock.now() + ms) })

testLogic('what joins a silenced incident sends nothing either, and neither does its end', async (store, t) => {
  const { health, infra, clock } = await watchServer(t, store)
  await infra('warning')
  const [incident] = await incidents(store)
  await silence(store, clock, incident?.id ?? '')
  clock.advance(MINUTE)
  await health('critical')
  await health('critical')
  const joined = (await alertRows(store)).at(-1)
  assert.equal(joined?.incident_id, incident?.id)
  assert.equal((await incidents(store))[0]?.severity, 'critical', 'which would have been an escalation')
  await infra('critical')
  clock.advance(MINUTE)
  await health('ok')
  await infra('ok')
  assert.equal((await incidents(store))[0]?.state, 'resolved')
  assert.deepEqual(await messages(store), ['opened hosting warning'])
})

testLogic('what became critical within the silence is notified when it is over', async (store, t) => {
  const { health, infra, clock, upkeep } = await watchServer(t, store)
  await infra('warning')
  const [incident] = await incidents(store)
  await silence(store, clock, incident?.id ?? '')
  clock.advance(MINUTE)
  await health('critical')
  clock.advance(HOUR)
  await upkeep()
  await health('critical')
  assert.deepEqual(await messages(store), ['opened hosting warning', 'escalated endpoint critical'])
})

testLogic(
  'what joined a silenced incident is notified when that ends, even if its probe finds nothing bad just then',
  async (store, t) => {
    const { health, infra, clock, upkeep } = await watchServer(t, store)
    await infra('warning')
    const [incident] = await incidents(store)
    await silence(store, clock, incident?.id ?? '')
    clock.advance(MINUTE)
    await health('critical')
    clock.advance(HOUR)
    await health('error')
    assert.deepEqual(await messages(store), ['opened hosting warning'])
    await upkeep()
    assert.deepEqual(await messages(store), ['opened hosting warning', 'escalated endpoint critical'])
    await upkeep()
    assert.equal((await messages(store)).length, 2)
  },
)

testLogic('the silence of another incident holds nothing back', async (store, t) => {
  const { health, clock } = await watchServer(t, store)
  const other = await insertIncident(store, await insertSite(store), clock.now())
  await silence(store, clock, other.id)
  await health('critical')
  assert.deepEqual(await messages(store), ['opened endpoint critical'])
  await silence(store, clock, other.id)
  const notes = await store.read.selectFrom('alert_events').select('id').where('kind', '=', 'silenced').execute()
  assert.deepEqual(notes, [], 'nor is it in the timeline of its alert')
})

testOnEveryEngine("a silence of a vendor's incident is one of its sites'", async (store, t) => {
  const { infra, clock } = await watchServer(t, store)
  await infra('warning')
  const vendor = await insertIncident(store, null, clock.now(), { title: 'Meta tags fail on 3 of 4 sites' })
  await store.write.updateTable('incidents').set({ parent_id: vendor.id }).where('scope', '=', 'site').execute()
  const made = await silence(store, clock, vendor.id)
  assert.equal(made.subject_label, 'Meta tags fail on 3 of 4 sites')
  clock.advance(MINUTE)
  await infra('critical')
  assert.deepEqual(await messages(store), ['opened hosting warning'])
})

testOnEveryEngine('until its incident is resolved a silence lasts, and is listed under its site', async (store, t) => {
  const { health, clock, site } = await watchServer(t, store)
  await health('critical')
  const [incident] = await incidents(store)
  const ctx = { store, clock, actor: 'admin' }
  const { id } = await createSilence(ctx, { incident_id: incident?.id ?? '', until_resolved: true })
  const listed = async () => {
    const page = await listSilences(store, null, { site_id: site.id }, clock.now())
    return page.entries.map((entry) => [entry.id, entry.state])
  }
  assert.deepEqual(await listed(), [[id, 'active']])
  assert.deepEqual((await listSilences(store, null, { client_id: site.client_id }, clock.now())).entries.length, 1)
  clock.advance(MINUTE)
  await health('ok')
  clock.advance(1)
  assert.deepEqual(await listed(), [[id, 'ended']])
})

testOnEveryEngine('a silence of an incident names one that there is, and nothing else', async (store, t) => {
  const { health, clock, site } = await watchServer(t, store)
  await health('critical')
  const [incident] = await incidents(store)
  const ctx = { store, clock, actor: 'admin' }
  const ends_at = isoTime(clock.now() + HOUR)
  const two = { incident_id: incident?.id ?? '', site_id: site.id, ends_at }
  await assert.rejects(createSilence(ctx, two), /cannot be combined with/)
  await assert.rejects(createSilence(ctx, { incident_id: site.id, ends_at }), /is not the id of an incident/)
})

for (const { how, mute } of [
  {
    how: 'a silence',
    mute: (ctx: Context, site_id: string, ends_at: string) => createSilence(ctx, { site_id, ends_at }),
  },
  {
    how: 'maintenance',
    mute: (ctx: Context, site_id: string, ends_at: string) =>
      createMaintenance(ctx, { site_id, kind: 'once', starts_at: isoTime(ctx.clock.now()), ends_at }),
  },
]) {
  testOnEveryEngine(`what is back within ${how} is notified as back when that is over`, async (store, t) => {
    const { health, clock, site, upkeep } = await watchServer(t, store)
    await health('critical')
    clock.advance(MINUTE)
    await health('ok')
    const told = ['opened endpoint critical', 'resolved endpoint critical']
    assert.deepEqual(await messages(store), told)
    clock.advance(10 * MINUTE)
    await mute({ store, clock, actor: 'admin' }, site.id, isoTime(clock.now() + HOUR))
    clock.advance(MINUTE)
    await health('critical')
    await upkeep()
    assert.equal((await incidents(store)).length, 1, 'it is the same incident')
    assert.deepEqual(await messages(store), told)
    clock.advance(HOUR)
    await upkeep()
    await health('critical')
    assert.deepEqual(await messages(store), [...told, 'opened endpoint critical'])
    assert.equal((await outbox(store)).at(-1)?.incident?.note, '“endpoint critical” is back')
    await health('ok')
    assert.deepEqual(await messages(store), [...told, 'opened endpoint critical', 'resolved endpoint critical'])
  })
}

testLogic(
  'of what is back and over again within a silence no one is notified twice that it ended',
  async (store, t) => {
    const { health, clock, site, upkeep } = await watchServer(t, store)
    const at = async (status: 'critical' | 'ok') => {
      clock.advance(MINUTE)
      await health(status)
    }
    await at('critical')
    await at('ok')
    await createSilence({ store, clock, actor: 'admin' }, { site_id: site.id, ends_at: isoTime(clock.now() + HOUR) })
    await at('critical')
    clock.advance(HOUR)
    await at('ok')
    await upkeep()
    assert.deepEqual(await messages(store), ['opened endpoint critical', 'resolved endpoint critical'])
  },
)
