import assert from 'node:assert/strict'
import { type CriticalAlert, KeptSummaries, siteFigures } from '../../src/analytics/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { Random } from '../../testkit/random.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count } from './support.ts'

const NOW = Date.parse('2026-11-20T12:34:30Z')
const NO_ALERTS: ReadonlyMap<string, CriticalAlert> = new Map()

const eventAt = (at: number) => event(at, { tags: [{ id: '1', status: 'success' }], user_data: { has_email: true } })

/** What is kept, after it was compared with what is read again. */
async function compared(kept: KeptSummaries, store: Store, sites: readonly SiteRow[], now: number) {
  const summaries = await kept.of(sites, NO_ALERTS, now)
  const read = await siteFigures(store, sites, now)
  for (const { site_no } of sites) {
    const { tags: _tags, signals: _signals, ...summary } = read.get(site_no) ?? assert.fail('no summary')
    assert.deepEqual(summaries.get(site_no), summary)
  }
  return summaries
}

testLogic('what is kept equals what would be read again, whatever comes, however late', async (store) => {
  const random = new Random(7)
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  const kept = new KeptSummaries(store)
  let now = NOW
  for (let step = 0; step < 40; step++) {
    const site = sites[random.below(sites.length)]
    assert.ok(site !== undefined)
    const turn = random.next()
    const at = now - random.below(DAY)
    // Accepted long ago: as the counts of a node that has died come in after those of others.
    if (turn < 0.5) await count(store, site, [eventAt(at)], at)
    else if (turn < 0.6) await rollUpAll(store, now)
    else if (turn < 0.8) now += random.below(3 * MINUTE)
    await compared(kept, store, sites, now)
  }
})

testOnEveryEngine('a late count shows at once, also when its hour was rolled up since the last look', async (store) => {
  const site = await insertSite(store)
  const kept = new KeptSummaries(store)
  await count(store, site, [eventAt(NOW - 5 * HOUR)], NOW)
  await rollUpAll(store, NOW)
  const before = await compared(kept, store, [site], NOW)
  assert.equal(before.get(site.site_no)?.events_24h, 1)
  await count(store, site, [eventAt(NOW - 5 * HOUR)], NOW - 4 * HOUR)
  await rollUpAll(store, NOW)
  const after = await compared(kept, store, [site], NOW)
  assert.equal(after.get(site.site_no)?.events_24h, 2)
})

testOnEveryEngine('the 24 hours move on with the minute, and back with a clock that is set back', async (store) => {
  const site = await insertSite(store)
  const kept = new KeptSummaries(store)
  await count(store, site, [eventAt(NOW)])
  const eventsAt = async (now: number) => (await compared(kept, store, [site], now)).get(site.site_no)?.events_24h
  assert.deepEqual([await eventsAt(NOW), await eventsAt(NOW + DAY), await eventsAt(NOW)], [1, 0, 1])
})

testLogic('a critical alert caps what is kept, and no longer when it is over', async (store) => {
  const site = await insertSite(store)
  const kept = new KeptSummaries(store)
  await count(
    store,
    site,
    Array.from({ length: 30 }, (_, index) => eventAt(NOW - index * MINUTE)),
  )
  const alert = await insertAlert(store, site, NOW - HOUR)
  const scoreWith = async (alerts: ReadonlyMap<string, CriticalAlert>) =>
    (await kept.of([site], alerts, NOW)).get(site.site_no)
  assert.deepEqual([(await scoreWith(NO_ALERTS))?.score, (await scoreWith(NO_ALERTS))?.score_cap], [100, null])
  const capped = await scoreWith(new Map([[site.id, alert]]))
  assert.deepEqual([capped?.score, capped?.score_cap?.alert_id], [49, alert.id])
  assert.equal((await scoreWith(NO_ALERTS))?.score, 100)
})

testOnEveryEngine('those who ask for other sites at the same time get theirs', async (store) => {
  const sites = [await insertSite(store), await insertSite(store)]
  for (const site of sites) await count(store, site, [eventAt(NOW)])
  const kept = new KeptSummaries(store)
  const [first] = sites
  assert.ok(first !== undefined)
  for (const now of [NOW, NOW + MINUTE]) {
    const ofFirst = kept.of([first], NO_ALERTS, now)
    const ofAll = await kept.of(sites, NO_ALERTS, now)
    assert.deepEqual([(await ofFirst).size, ofAll.size], [1, 2])
    assert.deepEqual((await ofFirst).get(first.site_no), ofAll.get(first.site_no))
  }
})

const COUNT = 120
const ALWAYS = 50
const OLDEST_MS = 40 * SECOND

testLogic(
  'where many sites change all the time, those that waited longest are summed, and none waits long',
  async (store) => {
    const sites: SiteRow[] = []
    for (let n = 0; n < COUNT; n++) sites.push(await insertSite(store))
    const kept = new KeptSummaries(store)
    const send = async (now: number) => {
      for (const site of sites) await count(store, site, [eventAt(now)], now)
    }
    const sums = async (now: number) => {
      const summaries = await kept.of(sites, NO_ALERTS, now)
      return sites.map(({ site_no }) => summaries.get(site_no)?.events_24h ?? assert.fail('no summary'))
    }
    const withNew = (figures: readonly number[], sent: number) => figures.filter((events) => events === sent).length
    await send(NOW)
    assert.equal(withNew(await sums(NOW), 1), COUNT, 'the first answer knows every site')
    await send(NOW)
    const second = await sums(NOW)
    assert.equal(withNew(second, 2), ALWAYS)
    const third = await sums(NOW)
    assert.equal(withNew(third, 2), 2 * ALWAYS, 'the next answer sums others')
    assert.ok(third.every((events, index) => events >= (second[index] ?? 0)))
    assert.equal(withNew(await sums(NOW), 2), COUNT, 'and soon all are up to date')
    // Whoever looks now and then sums all that have changed meanwhile.
    await send(NOW + 10 * SECOND)
    assert.equal(withNew(await sums(NOW + 10 * SECOND), 3), ALWAYS + (COUNT * 10 * SECOND) / OLDEST_MS)
    await send(NOW + 10 * SECOND)
    assert.equal(withNew(await sums(NOW + 10 * SECOND + OLDEST_MS), 4), COUNT)
  },
)

testLogic('few sites that changed among many are up to date at once', async (store) => {
  const sites: SiteRow[] = []
  for (let n = 0; n < COUNT; n++) sites.push(await insertSite(store))
  const kept = new KeptSummaries(store)
  await compared(kept, store, sites, NOW)
  for (const site of sites.slice(-ALWAYS)) await count(store, site, [eventAt(NOW)], NOW)
  await compared(kept, store, sites, NOW)
})

testLogic('no figure is old after the clock was set back', async (store) => {
  const sites: SiteRow[] = []
  for (let n = 0; n < COUNT; n++) sites.push(await insertSite(store))
  const kept = new KeptSummaries(store)
  await compared(kept, store, sites, NOW)
  for (const site of sites) await count(store, site, [eventAt(NOW - HOUR)], NOW - HOUR)
  await compared(kept, store, sites, NOW - HOUR)
})
