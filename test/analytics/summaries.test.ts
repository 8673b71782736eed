import assert from 'node:assert/strict'
import { overview, siteFigures } from '../../src/analytics/index.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import type { SiteRow } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from './support.ts'

const NOW = Date.parse('2026-11-20T12:34:30Z')

/** An event every 7 minutes over 27 hours, every `bad`-th with a tag that failed. */
const traffic = (bad: number): Payload[] =>
  Array.from({ length: 230 }, (_, index) =>
    event(NOW - 27 * HOUR + index * 7 * MINUTE, {
      tags: [
        { id: '1', status: index % bad === 0 ? 'failure' : 'success' },
        { id: '2', status: 'success', response: index % 3 === 0 ? '4xx' : '2xx' },
      ],
      ...(index % 5 === 0 ? {} : { consent: { ad_storage: 'granted' }, identifiers: { has_ip: true } }),
      event_name: index % 4 === 0 ? 'login' : 'page_view',
      user_data: { has_email: index % 4 === 0 },
    }),
  )

testLogic('summaries of many sites are what the overview of each says', async (store) => {
  const sites: SiteRow[] = []
  for (const timezone of ['UTC', 'Asia/Kolkata', 'America/New_York']) sites.push(await insertSite(store, { timezone }))
  const silent = await insertSite(store)
  for (const [index, site] of sites.entries()) await count(store, site, traffic(2 + index))
  const [capped] = sites
  assert.ok(capped !== undefined)
  await insertAlert(store, capped, NOW - HOUR)
  await insertAlert(store, capped, NOW - HOUR, { state: 'acknowledged', title: 'Opened later' })
  const compare = async () => {
    const summaries = await siteFigures(store, [...sites, silent], NOW)
    for (const site of sites) {
      const report = await overview(reportContext(store, NOW), site, {})
      const { total_events, score, tags, consent, identifiers, responses } = report
      const { signals, ...summary } = summaries.get(site.site_no) ?? assert.fail('no summary')
      const answersOf = (tag: string) => responses.tags.find(({ tag_key }) => tag_key === tag)
      assert.deepEqual(
        { ...summary, tags: summary.tags.toSorted((a, b) => (a.tag_key < b.tag_key ? -1 : 1)) },
        {
          events_24h: total_events,
          score: score.overall,
          score_cap: score.cap,
          tags: tags
            .map(({ tag_key, executions, success }) => {
              const { total = 0, response_4xx = 0 } = answersOf(tag_key) ?? {}
              return { tag_key, executions, success, answered: total, refused: response_4xx }
            })
            .toSorted((a, b) => (a.tag_key < b.tag_key ? -1 : 1)),
        },
      )
      assert.ok(signals !== undefined && signals.consent_total > 0 && responses.total > 0)
      assert.deepEqual([signals.consent_total, signals.identifiers_total], [consent.total, identifiers.total])
    }
    const nothing = { events_24h: 0, score: null, score_cap: null, tags: [], signals: undefined }
    assert.deepEqual(summaries.get(silent.site_no), nothing)
    return summaries
  }
  const fromMinutes = await compare()
  assert.equal(fromMinutes.get(capped.site_no)?.score_cap?.reason, 'It is down')
  await rollUpAll(store, NOW)
  assert.deepEqual(await compare(), fromMinutes)
  // One comes late for an hour that has been rolled up.
  const [first, ...others] = sites
  assert.ok(first !== undefined)
  await count(store, first, [event(NOW - 5 * HOUR)], NOW)
  const afterwards = await compare()
  const eventsOf = (map: typeof afterwards, site: SiteRow) => map.get(site.site_no)?.events_24h ?? 0
  assert.equal(eventsOf(afterwards, first), eventsOf(fromMinutes, first) + 1)
  for (const site of others) assert.equal(eventsOf(afterwards, site), eventsOf(fromMinutes, site))
})

testOnEveryEngine(
  'what a sender whose clock is ahead sent is in no summary before it is in the overview',
  async (store) => {
    const site = await insertSite(store)
    const ahead = [event(NOW), event(NOW + MINUTE), event(NOW + 4 * MINUTE)]
    await count(store, site, ahead, NOW)
    for (const [minutes, expected] of [
      [0, 1],
      [1, 2],
      [4, 3],
    ] as const) {
      const now = NOW + minutes * MINUTE
      const summary = (await siteFigures(store, [site], now)).get(site.site_no)
      const report = await overview(reportContext(store, now), site, {})
      assert.deepEqual([report.total_events, summary?.events_24h], [expected, expected])
    }
  },
)

testLogic('no sites have no summaries', async (store) => {
  assert.deepEqual(await siteFigures(store, [], NOW), new Map())
})

testOnEveryEngine('a tag that was named or renamed is one tag in summaries, as in the overview', async (store) => {
  const [renamed, named, other] = [await insertSite(store), await insertSite(store), await insertSite(store)]
  const runs = (hoursAgo: number, status: 'success' | 'failure', name?: string): Payload[] =>
    Array.from({ length: 30 }, () =>
      event(NOW - hoursAgo * HOUR, {
        tags: [
          { id: '7', status, response: status === 'success' ? '2xx' : '4xx', ...(name === undefined ? {} : { name }) },
        ],
      }),
    )
  await count(store, renamed, [...runs(5, 'failure', 'Old name'), ...runs(3, 'success', 'New name')])
  await count(store, named, [...runs(5, 'failure'), ...runs(3, 'success', 'New name')])
  await count(store, other, runs(3, 'success', 'Old name'))
  const figures = await siteFigures(store, [renamed, named, other], NOW)
  for (const site of [renamed, named]) {
    const { score, tags } = figures.get(site.site_no) ?? assert.fail('no figures')
    const report = await overview(reportContext(store, NOW), site, {})
    assert.deepEqual([score, report.score.overall], [50, 50])
    assert.deepEqual(tags, [{ tag_key: 'New name', executions: 60, success: 30, answered: 60, refused: 30 }])
  }
  assert.equal(figures.get(other.site_no)?.tags[0]?.tag_key, 'Old name')
})
