import assert from 'node:assert/strict'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { Changes } from '../../src/today/changes.ts'
import { lastDay } from '../../src/today/weeks.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertPause, insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from '../analytics/support.ts'
import { NOW, sendWeeks, writeHours } from './support.ts'

const WEEKS = lastDay(NOW, 'UTC')

testOnEveryEngine('what changed is named, the rest of it is not, and a calm site names nothing', async (store) => {
  const calm = await insertSite(store, { name: 'calm' })
  const lessSales = await insertSite(store, { name: 'less sales' })
  const gone = await insertSite(store, { name: 'half gone' })
  const failing = await insertSite(store, { name: 'failing' })
  await sendWeeks(store, calm, {})
  await sendWeeks(store, lessSales, { purchase: 20 })
  await sendWeeks(store, gone, { page_view: 300, purchase: 30 })
  await sendWeeks(store, failing, { failures: 60 })
  const sites = [calm, lessSales, gone, failing]
  const changes = new Changes(reportContext(store, NOW))
  const { entries, compared, isComplete } = await changes.of(sites, WEEKS)
  assert.deepEqual([compared, isComplete], [4, true])
  const named = entries.map(({ siteNo, kind, name, now }) => [siteNo, kind, name, now.runs, now.bad])
  assert.deepEqual(
    named.sort(),
    [
      [lessSales.site_no, 'event', 'purchase', 40, 0],
      // It runs on purchases, and of these there are as few.
      [lessSales.site_no, 'tag_runs', 'Meta CAPI', 40, 2],
      [gone.site_no, 'events', null, 660, 0],
      [failing.site_no, 'tag_failures', 'Meta CAPI', 200, 120],
    ].sort(),
  )
  const total = entries.find(({ kind }) => kind === 'events')
  assert.ok(total !== undefined && total.deviations < -5 && total.chance < 1e-6 && total.before.runs > 2_000)
  assert.deepEqual(
    (await changes.of([calm], WEEKS)).entries,
    [],
    'of one client only its own sites are looked at, by what was read before',
  )
})

testLogic('a site younger than a week, and one without retention for it, is not compared', async (store) => {
  const young = await insertSite(store, { created_at: NOW - 3 * DAY })
  const old = await insertSite(store)
  await sendWeeks(store, young, { page_view: 0 }, 1)
  await sendWeeks(store, old, { page_view: 0 }, 1)
  const context = reportContext(store, NOW)
  assert.equal((await new Changes(context).of([young, old], WEEKS)).compared, 1)
  const short = { ...context, retention: { minuteDays: 2, hourDays: 7 } }
  assert.partialDeepStrictEqual(await new Changes(short).of([young, old], WEEKS), { compared: 0, isComplete: true })
})

testLogic('without time nothing is said, and the next call goes on from there', async (store) => {
  const site = await insertSite(store)
  await sendWeeks(store, site, { page_view: 0 })
  const changes = new Changes(reportContext(store, NOW))
  assert.partialDeepStrictEqual(await changes.of([site], WEEKS, 0), { compared: 0, isComplete: false, entries: [] })
  const { entries, isComplete } = await changes.of([site], WEEKS)
  assert.ok(entries.length > 0 && isComplete)
})

testLogic('hours that are not rolled up count as well, and those after the window do not', async (store) => {
  const site = await insertSite(store)
  await sendWeeks(store, site, {}, 2)
  const context = reportContext(store, NOW)
  const before = await new Changes(context).of([site], WEEKS)
  assert.deepEqual(before.entries, [])
  const many = (at: number) => [batch(at, { total_events: 3_000, event_counts: { spike: 3_000 } })]
  await count(store, site, many(WEEKS.now.to))
  assert.deepEqual((await new Changes(context).of([site], WEEKS)).entries, [])
  await count(store, site, many(WEEKS.now.to - HOUR))
  const { entries } = await new Changes(context).of([site], WEEKS)
  assert.deepEqual(
    entries.filter(({ kind }) => kind === 'event').map(({ name, before: { runs } }) => [name, runs]),
    [['spike', 0]],
  )
})

testLogic('a tag that was renamed is the same tag', async (store) => {
  const site = await insertSite(store)
  const tags = (name: string) => ({ tags: [{ id: '7', name, status: 'success' as const, execution_time: 1 }] })
  const runs = (at: number, name: string) => Array.from({ length: 40 }, () => event(at, tags(name)))
  await count(store, site, [...runs(WEEKS.before.from + HOUR, 'Old name'), ...runs(WEEKS.now.from + HOUR, 'New name')])
  assert.deepEqual((await new Changes(reportContext(store, NOW)).of([site], WEEKS)).entries, [])
})

testLogic('a tag that was renamed is measured against what it did under its old name', async (store) => {
  const site = await insertSite(store)
  const renamedAt = floorTo(NOW, DAY) - 3 * DAY
  const hours = Array.from({ length: 22 }, (_, index) => floorTo(NOW, DAY) - (index + 1) * DAY).flatMap((day) =>
    [3, 20].map((hour) => ({ at: day + hour * HOUR, purchase: 1_000 })),
  )
  // The window of the morning begins at 09:00 of the day before.
  const before = hours.filter(({ at }) => at < NOW - DAY)
  const today = [{ at: NOW - 14 * HOUR }, { at: NOW - 7 * HOUR }].map((hour) => ({ ...hour, purchase: 1_000 }))
  const named = (from: number) => before.filter(({ at }) => (at < renamedAt ? 0 : 1) === from)
  await writeHours(store, site, named(0), 'Old name')
  await writeHours(store, site, [...named(1), ...today.map((hour) => ({ ...hour, purchase: 200 }))], 'New name')
  const key = { site_no: site.site_no, container_id: 'GTM-ABC1234', tag_id: '7' }
  await store.write
    .insertInto('tag_names')
    .values([
      { ...key, tag_name: 'Old name', last_seen_at: renamedAt - 1 },
      { ...key, tag_name: 'New name', last_seen_at: NOW },
    ])
    .execute()
  const { entries } = await new Changes(reportContext(store, NOW)).of([site], WEEKS)
  const ofTag = entries.filter(({ kind }) => kind === 'tag_runs')
  assert.deepEqual(
    ofTag.map(({ name, now, before: past }) => [name, now.runs, past.runs]),
    [['New name', 400, 2_000]],
  )
})

testOnEveryEngine('hours in which this service was down are compared in neither week', async (store) => {
  const site = await insertSite(store)
  await sendWeeks(store, site, {})
  const at = NOW - 7 * HOUR
  await store.write.deleteFrom('event_rollups').where('bucket', '=', at).execute()
  await store.write.deleteFrom('tag_rollups').where('bucket', '=', at).execute()
  const changes = new Changes(reportContext(store, NOW))
  const restart = { began_at: at, ended_at: at + MINUTE - 1 }
  await store.write.insertInto('outages').values(restart).execute()
  const lost = await changes.of([site], WEEKS)
  assert.deepEqual([lost.leftOut, lost.entries.map(({ kind }) => kind)], [0, ['events']])
  await store.write
    .updateTable('outages')
    .set({ ended_at: at + 2 * HOUR })
    .execute()
  const { leftOut, entries, compared } = await changes.of([site], WEEKS)
  assert.deepEqual([leftOut, entries, compared], [2, [], 1])
  await store.write.updateTable('outages').set({ began_at: WEEKS.now.from, ended_at: WEEKS.now.to }).execute()
  assert.partialDeepStrictEqual(await changes.of([site], WEEKS), { leftOut: 24, compared: 0, isComplete: true })
})

testOnEveryEngine('a site that was paused in these hours or a week before is not compared', async (store) => {
  const [paused, resumed, briefly] = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const site of [paused, resumed, briefly]) await sendWeeks(store, site, { page_view: 100, purchase: 10 })
  await insertPause(store, paused, WEEKS.now.from, WEEKS.now.from + 10 * HOUR)
  await insertPause(store, resumed, WEEKS.before.from - DAY, WEEKS.before.from + 10 * HOUR)
  await insertPause(store, briefly, WEEKS.now.from, WEEKS.now.from + MINUTE)
  const { compared, entries } = await new Changes(reportContext(store, NOW)).of([paused, resumed, briefly], WEEKS)
  assert.deepEqual([compared, [...new Set(entries.map(({ siteNo }) => siteNo))]], [1, [briefly.site_no]])
})

testLogic('a past week in which the site was paused does not make every change usual', async (store) => {
  const [site, paused] = [await insertSite(store), await insertSite(store)]
  for (const one of [site, paused]) await sendWeeks(store, one, { page_view: 500, purchase: 50 }, 4)
  const [from, to] = [floorTo(NOW, DAY) - 16 * DAY, floorTo(NOW, DAY) - 9 * DAY]
  for (const table of ['event_rollups', 'tag_rollups'] as const) {
    const ofSite = store.write.deleteFrom(table).where('site_no', '=', paused.site_no)
    await ofSite.where('bucket', '>=', from).where('bucket', '<', to).execute()
  }
  await insertPause(store, paused, from, to)
  const { entries } = await new Changes(reportContext(store, NOW)).of([site, paused], WEEKS)
  const named = ({ site_no }: typeof site) => entries.filter(({ siteNo }) => siteNo === site_no).map(({ kind }) => kind)
  assert.ok(named(site).length > 0)
  assert.deepEqual(named(paused), named(site))
})
