import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DAY, HOUR, isoTime, newId } from '../../src/lib/index.ts'
import { type ExpectationRecord, probeRoutes } from '../../src/probes/index.ts'
import { dataFreshness } from '../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../src/probes/types/data-volume.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch } from '../../testkit/payloads.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { openApp } from '../http/support.ts'
import { Management, UNKNOWN_ID } from '../management/support.ts'
import { OK, openNode, typeOf } from './support.ts'
import { every, siteWith } from './types/data-support.ts'

/** Nine days of a shop, with 1,200 events an hour. */
const SHOP = every(HOUR, NOW - 9 * DAY, NOW).map((time) =>
  batch(time, { total_events: 1_200, event_counts: { page_view: 960, purchase: 240 } }),
)

async function openApi(t: TestContext, store: Store): Promise<Management> {
  const clock = newClock()
  const fake = typeOf(async () => OK)
  const { probes } = await openNode(t, store, clock, [dataVolume, dataFreshness, fake])
  const app = await openApp(t, () => undefined, { clock, publicUrl: null })
  probeRoutes(app, { store, clock, registry: probes.registry, scheduler: probes.scheduler, publicUrl: null })
  return new Management(app, clock)
}

const pathOf = async (store: Store, site: SiteRow, type: string, config: object = {}): Promise<string> => {
  const { id } = await insertProbe(store, site.id, { probe_type: type, config: JSON.stringify(config) })
  return `/api/probes/${id}/expectation`
}

testLogic('a probe says what it expects of the last day and the next, and which counts pass', async (store, t) => {
  const api = await openApi(t, store)
  const path = await pathOf(store, await siteWith(store, SHOP), 'data_volume')
  const all = await api.get<ExpectationRecord>(path)
  assert.deepEqual([all.event_name, all.direction, all.learnt_days], [null, 'down', 8])
  assert.deepEqual(all.events, ['page_view', 'purchase'])
  const hour = Math.floor(NOW / HOUR) * HOUR
  assert.deepEqual([all.hours[0]?.t, all.hours.at(-1)?.t], [isoTime(hour - DAY), isoTime(hour + DAY)])
  const purchases = await api.get<ExpectationRecord>(`${path}?event_name=purchase`)
  for (const [{ hours }, usual] of [
    [all, 1_200],
    [purchases, 240],
  ] as const) {
    const { expected, low, high } = hours.find(({ t }) => t === isoTime(hour + HOUR)) ?? assert.fail('no next hour')
    assert.ok(expected !== null && Math.abs(expected - usual) < 0.05 * usual, `${expected}, not ${usual}`)
    assert.ok(low !== null && low > 0 && low < 0.9 * expected, `passes from ${low}`)
    assert.ok(high !== null && high > 1.1 * expected, `passes up to ${high}`)
  }
  // The budget is shared among the events, so that of the site is larger: what is few for it is nearer to what is usual.
  const shares = [all, purchases].map(({ hours }) => (hours[30]?.low ?? 0) / (hours[30]?.expected ?? 1))
  assert.ok((shares[0] ?? 0) >= (shares[1] ?? 0), JSON.stringify(shares))
})

testLogic('what a probe expected before a fault is asked for by the time that it was known', async (store, t) => {
  const api = await openApi(t, store)
  const [broke, mended] = [NOW - 30 * HOUR, NOW - 26 * HOUR]
  const without = SHOP.filter(({ window_end_ms: at }) => at < broke || at >= mended)
  const path = await pathOf(store, await siteWith(store, without), 'data_volume')
  const during = `from=${isoTime(broke)}&to=${isoTime(mended)}`
  const { hours } = await api.get<ExpectationRecord>(`${path}?${during}&as_of=${isoTime(broke)}`)
  assert.ok(hours.length >= 4)
  for (const { t, expected } of hours) assert.ok(Math.abs((expected ?? 0) - 1_200) < 60, `${t}: ${expected}`)
  const { details } = await api.refused(400, 'GET', `${path}?as_of=${isoTime(NOW + HOUR)}`)
  assert.match(JSON.stringify(details), /as_of.*must not be in the future/)
})

testLogic('what a probe expects of other hours is asked for by their time', async (store, t) => {
  const api = await openApi(t, store)
  const path = await pathOf(store, await siteWith(store, SHOP), 'data_volume')
  const [from, to] = [NOW - 3 * DAY, NOW - 2 * DAY].map(isoTime)
  const { hours } = await api.get<ExpectationRecord>(`${path}?from=${from}&to=${to}`)
  assert.ok(hours.every(({ expected }) => expected !== null))
  assert.equal(Date.parse(hours[0]?.t ?? ''), Math.floor((NOW - 3 * DAY) / HOUR) * HOUR)
  for (const [query, field] of [
    [`from=${to}&to=${from}`, '/to'],
    [`from=${isoTime(NOW - 8 * DAY)}`, '/from'],
  ] as const) {
    const { details } = await api.refused(400, 'GET', `${path}?${query}`)
    assert.deepEqual(
      details.map((detail) => detail.path),
      [field],
    )
  }
})

testOnEveryEngine('while nothing is known of a site or an event, nothing is expected of it', async (store, t) => {
  const api = await openApi(t, store)
  const young = await pathOf(store, await siteWith(store, []), 'data_volume')
  const answer = await api.get<ExpectationRecord>(young)
  assert.deepEqual([answer.learnt_days, answer.events], [0, []])
  const shop = await pathOf(store, await siteWith(store, SHOP), 'data_volume')
  const never = await api.get<ExpectationRecord>(`${shop}?event_name=never%20seen`)
  for (const { hours } of [answer, never]) {
    assert.ok(hours.length > 0)
    assert.ok(hours.every(({ expected, low, high }) => expected === null && low === null && high === null))
  }
})

testLogic('of freshness an hour without events is bad, a check of another kind expects no counts', async (store, t) => {
  const api = await openApi(t, store)
  const site = await siteWith(store, SHOP)
  const freshness = await pathOf(store, site, 'data_freshness')
  const { hours } = await api.get<ExpectationRecord>(freshness)
  assert.deepEqual(new Set(hours.map(({ low, high }) => `${low} ${high}`)), new Set(['1 null']))
  const { message } = await api.refused(400, 'GET', `${freshness}?event_name=purchase`)
  assert.match(message, /^\/event_name is not judged by data_freshness/)
  const other = await api.refused(404, 'GET', await pathOf(store, site, 'fake'))
  assert.equal(other.message, 'Expectation not found')
  await api.refused(404, 'GET', `/api/probes/${UNKNOWN_ID}/expectation`)
})

testLogic(
  'what feedback has widened is wider, and names the alerts on which it can be taken back',
  async (store, t) => {
    const api = await openApi(t, store)
    const site = await siteWith(store, SHOP)
    const path = await pathOf(store, site, 'data_volume')
    const before = await api.get<ExpectationRecord>(path)
    assert.deepEqual([before.widening, before.widened_by], [1, []])
    const about = { site_id: site.id, given_by: 'Ada', verdict: 'not_a_problem' }
    const given = (event_name: string | null, given_at: number, ended_at: number | null = given_at) => {
      const alert_id = newId()
      return { ...about, alert_id, event_name, given_at, began_at: given_at - HOUR, ended_at }
    }
    const [counts, ofEvent, old] = [given(null, NOW - DAY), given('purchase', NOW), given(null, NOW - 60 * DAY)]
    await store.write.insertInto('alert_feedback').values([counts, ofEvent, old]).execute()
    const after = await api.get<ExpectationRecord>(path)
    assert.deepEqual(after.widened_by, [{ alert_id: counts.alert_id, at: isoTime(NOW - DAY) }])
    assert.ok(after.widening === 1.5 && after.level_noise > before.level_noise)
    await store.write.deleteFrom('alert_feedback').execute()
    assert.deepEqual(await api.get(path), before)
  },
)
