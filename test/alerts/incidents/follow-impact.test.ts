import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Impact } from '../../../src/alerts/incidents/impact.ts'
import { DAY, HOUR, MINUTE, newId, SECOND } from '../../../src/lib/index.ts'
import { updateClient, updateSite } from '../../../src/management/index.ts'
import type { VendorMessage } from '../../../src/notifications/index.ts'
import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW, TestClock } from '../../../testkit/clock.ts'
import { rollUpAll } from '../../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { count } from '../../analytics/support.ts'
import { typeOf } from '../../probes/support.ts'
import { every } from '../../probes/types/data-support.ts'
import { outbox, watch } from '../support.ts'

/** Hour by hour 960 page views and 240 purchases. */
const shop = (from: number, to: number) =>
  every(HOUR, from, to).map((time) =>
    batch(time, { total_events: 1_200, event_counts: { page_view: 960, purchase: 240 } }),
  )

async function fill(store: Store, site: SiteRow, payloads: Parameters<typeof count>[2]): Promise<void> {
  await count(store, site, payloads)
  await rollUpAll(store, NOW)
}

/** A site of which a probe says since when it is silent; null: it is not. */
async function watchSilence(t: TestContext, store: Store, type = 'data_freshness') {
  let since: number | null = null
  const run = async (): Promise<ProbeOutcome> =>
    since === null
      ? { status: 'ok', message: 'it sends', details: {} }
      : { status: 'critical', message: 'no events', details: {}, startedAt: since }
  const seen = await watch(t, store, { probe_type: type }, { type: typeOf(run, { name: type }), delivers: false })
  return {
    ...seen,
    /** @param before what happens before it is counted */
    look: async (silentSince: number | null, before = async () => {}) => {
      since = silentSince
      await seen.find('o')
      await before()
      await seen.upkeep()
    },
  }
}

const incidents = (store: Store) => store.write.selectFrom('incidents').selectAll().orderBy('id').execute()

async function impacts(store: Store): Promise<(Impact | null)[]> {
  return (await incidents(store)).map(({ impact }) => (impact === null ? null : (JSON.parse(impact) as Impact)))
}

const said = async (store: Store) =>
  (await outbox(store)).map(({ kind, incident }) => [kind, incident?.impact?.text ?? null, incident?.impact?.final])

testOnEveryEngine(
  'what a silence costs is counted while it lasts, said in its messages, and final at its end',
  async (store, t) => {
    const { look, clock, site } = await watchSilence(t, store)
    const start = NOW - 2 * HOUR
    await fill(store, site, shop(NOW - 9 * DAY, start))
    clock.set(NOW - MINUTE)
    const copy = newId()
    await look(start, async () => {
      const row = await store.write.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
      await store.write
        .insertInto('deliveries')
        .values({ ...row, id: copy, alert_id: newId() })
        .execute()
    })
    const ofOther = await store.write.deleteFrom('deliveries').where('id', '=', copy).returning('message').execute()
    assert.doesNotMatch(
      ofOther[0]?.message ?? 'purchases',
      /purchases/,
      'a message about another alert does not say it',
    )
    const [first] = await impacts(store)
    assert.deepEqual([first?.final, first?.from, first?.to], [false, start, NOW])
    const [purchases, ...others] = first?.key_events ?? []
    assert.deepEqual([purchases?.event_name, others], ['purchase', []])
    assert.ok(purchases !== undefined && Math.abs(purchases.lost - 480) < 40, JSON.stringify(purchases))
    assert.ok(Math.abs((first?.events?.lost ?? 0) - 2_400) < 150, JSON.stringify(first?.events))
    assert.equal(first?.share, 1)
    const [opened] = await said(store)
    assert.match(`${opened?.[1]}`, /^about 4\d\d of 4\d\d purchases \(100 %/, 'the message that waits says it')
    assert.deepEqual([opened?.[0], opened?.[2]], ['opened', false])

    clock.set(NOW + 2 * MINUTE)
    await look(start)
    assert.equal((await impacts(store))[0]?.to, NOW, 'not all the time')
    clock.set(NOW + 10 * MINUTE)
    await look(start)
    const [later] = await impacts(store)
    assert.equal(later?.to, NOW + 11 * MINUTE)
    assert.ok((later?.events?.lost ?? 0) > (first?.events?.lost ?? 0))

    clock.set(NOW + 19 * MINUTE)
    await look(null)
    const [final] = await impacts(store)
    assert.deepEqual([final?.final, final?.to], [true, NOW + 20 * MINUTE])
    assert.equal((await incidents(store))[0]?.impact_due, null)
    const [, resolved] = await said(store)
    assert.deepEqual([resolved?.[0], resolved?.[2]], ['resolved', true])
    clock.advance(HOUR)
    await look(null)
    assert.deepEqual((await impacts(store))[0], final, 'it is never counted again')
  },
)

testLogic('what a pause refused is not lost, and counts once where site and client were paused', async (store, t) => {
  const { look, clock, site } = await watchSilence(t, store)
  const start = NOW - 4 * HOUR
  await fill(store, site, shop(NOW - 9 * DAY, start))
  const ctx = { store, clock: new TestClock(NOW - 3 * HOUR), actor: 'admin' }
  await updateSite(ctx, site.id, { is_active: false })
  ctx.clock.advance(HOUR)
  await updateClient(ctx, site.client_id, { is_active: false }, true)
  ctx.clock.advance(HOUR / 2)
  await updateSite(ctx, site.id, { is_active: true })
  ctx.clock.advance(HOUR / 2)
  await updateClient(ctx, site.client_id, { is_active: true }, true)
  clock.set(NOW - MINUTE)
  await look(start)
  const [impact] = await impacts(store)
  assert.ok(Math.abs((impact?.events?.lost ?? 0) - 2_400) < 150, JSON.stringify(impact?.events))
})

testLogic('of a server that fails on a site without events, nothing is said to be lost', async (store, t) => {
  const { look, clock } = await watchSilence(t, store, 'http_health')
  await look(clock.now())
  assert.deepEqual(await impacts(store), [null])
  assert.deepEqual(await said(store), [['opened', null, undefined]])
  assert.equal((await incidents(store))[0]?.impact_due, clock.now() + 5 * MINUTE, 'events may begin')
  await look(null)
  assert.deepEqual([(await impacts(store))[0], (await incidents(store))[0]?.impact_due], [null, null])
})

testLogic('within the minute in which it began, an incident has cost nothing that is known', async (store, t) => {
  const { look, clock, site } = await watchSilence(t, store, 'http_health')
  await fill(store, site, shop(NOW - 9 * DAY, NOW))
  clock.set(NOW - MINUTE + 20 * SECOND)
  await look(NOW + 17 * SECOND)
  assert.deepEqual([(await impacts(store))[0], await said(store)], [null, [['opened', null, undefined]]])
  clock.set(NOW + 10 * MINUTE)
  await look(NOW + 17 * SECOND)
  assert.ok(((await impacts(store))[0]?.events?.lost ?? 0) > 100)
})

testOnEveryEngine('five events a day do not say in two hours that any was lost', async (store, t) => {
  const { look, clock, site } = await watchSilence(t, store)
  const start = NOW - 2 * HOUR
  await fill(
    store,
    site,
    every(5 * HOUR, NOW - 9 * DAY, start).map((time) => event(time)),
  )
  clock.set(NOW - MINUTE)
  await look(start)
  const [impact] = await impacts(store)
  assert.equal(impact?.events?.low, 0)
  assert.deepEqual(await said(store), [['opened', null, undefined]])
})

testLogic('a message that is settled stays as it is: after a crash the same is sent again', async (store, t) => {
  const { look, clock, site } = await watchSilence(t, store)
  await fill(store, site, shop(NOW - 9 * DAY, NOW - 2 * HOUR))
  clock.set(NOW - MINUTE)
  await look(NOW - 2 * HOUR, async () => {
    await store.write.updateTable('deliveries').set({ group_id: 'settled' }).execute()
  })
  assert.deepEqual(await said(store), [['opened', null, undefined]])
  assert.notEqual((await impacts(store))[0], null)
})

/** Twenty events an hour with a tag, of which every second one fails or none. */
const tagged = (from: number, to: number, isFailing: boolean) =>
  every(HOUR, from, to).flatMap((hour) =>
    Array.from({ length: 20 }, (_, n) =>
      event(hour + n * MINUTE, {
        event_name: n < 5 ? 'purchase' : 'page_view',
        tags: [{ id: '1', name: 'Meta CAPI', status: n % 2 === 0 && isFailing ? 'failure' : 'success' }],
      }),
    ),
  )

/** A site of which a probe says since when a tag fails. */
async function watchTag(t: TestContext, store: Store, since: number) {
  const subject = { tag_key: 'Meta CAPI' }
  const details = { findings: [{ subject }] }
  let isBad = true
  const run = async (): Promise<ProbeOutcome> =>
    isBad
      ? {
          status: 'critical',
          message: 'Meta fails',
          details,
          findings: [{ subject, status: 'critical', message: 'Meta fails', startedAt: since, details }],
        }
      : { status: 'ok', message: 'fine', details: {}, findings: [] }
  const type = typeOf(run, { name: 'tag_failure_rate' })
  const seen = await watch(t, store, { probe_type: 'tag_failure_rate' }, { type, delivers: false })
  return { ...seen, mend: () => (isBad = false) }
}

testLogic('what a tag lost is counted to the minute under way: the first minute of a shop, too', async (store, t) => {
  const { site, clock, find, upkeep } = await watchTag(t, store, NOW - 4 * MINUTE)
  await fill(store, site, tagged(NOW, NOW + MINUTE, true).slice(0, 1))
  // Upkeep is a minute later.
  clock.set(NOW - 30_000)
  await find('o')
  await upkeep()
  const [impact] = await impacts(store)
  assert.deepEqual([impact?.executions?.lost, impact?.executions?.of], [1, 1])
})

testOnEveryEngine('a vendor costs the operator the sum, and each client what its own site lost', async (store, t) => {
  const since = NOW - 2 * HOUR
  const seen = await watchTag(t, store, since)
  const sites = [seen.site, await insertSite(store), await insertSite(store)]
  for (const site of sites.slice(1)) await insertProbe(store, site.id, { probe_type: 'tag_failure_rate' })
  for (const site of sites) await fill(store, site, [...tagged(NOW - DAY, since, false), ...tagged(since, NOW, true)])
  seen.clock.set(NOW - MINUTE)
  await seen.find('o')
  await seen.upkeep()
  await seen.upkeep()
  const all = await incidents(store)
  const vendor = all.find(({ scope }) => scope === 'vendor')
  const parts = all.filter(({ scope }) => scope === 'site')
  const read = (text: string | null | undefined) => JSON.parse(text ?? 'null') as Impact | null
  for (const { impact } of parts) {
    assert.deepEqual([read(impact)?.executions?.lost, read(impact)?.executions?.of], [20, 40])
    assert.deepEqual([read(impact)?.key_executions[0]?.lost, read(impact)?.sites], [6, 1])
  }
  assert.deepEqual([read(vendor?.impact)?.executions?.lost, read(vendor?.impact)?.sites], [60, 3])
  seen.mend()
  await seen.find('o')
  await seen.upkeep()
  await seen.upkeep()
  const ended = (await incidents(store)).find(({ scope }) => scope === 'vendor')
  assert.deepEqual([read(ended?.impact)?.final, ended?.impact_due], [true, null])
  const messages = await store.write
    .selectFrom('deliveries')
    .select('message')
    .where('kind', '=', 'vendor_resolved')
    .execute()
  const [message] = messages.map((row) => JSON.parse(row.message) as VendorMessage)
  assert.equal(message?.incident.impact?.text, '18 of 30 tag executions on purchases (60 %)')
})

testOnEveryEngine('an incident whose site is gone keeps no other waiting', async (store, t) => {
  const { look, clock, site } = await watchSilence(t, store)
  await fill(store, site, shop(NOW - 9 * DAY, NOW - 2 * HOUR))
  clock.set(NOW - MINUTE)
  await look(NOW - 2 * HOUR)
  const [incident] = await incidents(store)
  await store.write
    .insertInto('incidents')
    .values({ ...(incident ?? assert.fail()), id: '0', site_id: 'gone', impact: null, impact_due: 0 })
    .execute()
  await store.write.updateTable('incidents').set({ impact: null, impact_due: 1 }).where('id', '<>', '0').execute()
  await look(NOW - 2 * HOUR)
  const [gone, counted] = await impacts(store)
  assert.deepEqual([gone, counted?.sites], [null, 1])
})
