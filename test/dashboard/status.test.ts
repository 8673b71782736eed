import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SiteStatus, STATUSES, type Status, siteStatus, worstStatus } from '../../src/dashboard/status.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import type { ProbeState } from '../../src/probes/index.ts'

const cases: readonly [parts: readonly Status[], whole: Status][] = [
  [[], 'unknown'],
  [['unknown'], 'unknown'],
  [['ok'], 'ok'],
  [['ok', 'unknown'], 'ok'],
  [['unknown', 'warning', 'ok'], 'warning'],
  [['warning', 'error', 'ok'], 'error'],
  [['error', 'critical', 'warning'], 'critical'],
  [['critical', 'critical'], 'critical'],
]
for (const [parts, whole] of cases) {
  test(`the whole of [${parts.join(', ')}] is ${whole}`, () => assert.equal(worstStatus(parts), whole))
}

test('of any two the one that needs a person first wins, in either order', () => {
  for (const [rank, worse] of STATUSES.entries()) {
    for (const better of STATUSES.slice(rank)) {
      assert.equal(worstStatus([worse, better]), worse)
      assert.equal(worstStatus([better, worse]), worse)
    }
  }
})

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
type Result = Pick<ProbeState, 'probeType' | 'status' | 'reason'>
const health: Result = { probeType: 'http_health', status: 'ok', reason: null }
const fresh: Result = { probeType: 'data_freshness', status: 'ok', reason: null }
const learning: Result = { probeType: 'data_freshness', status: 'ok', reason: 'learning' }
const without: Result = { probeType: 'tag_missing', status: 'ok', reason: 'no_data' }
const first: Result = { probeType: 'tag_missing', status: null, reason: null }
const critical: Result = { probeType: 'tag_failure_rate', status: 'critical', reason: null }

const sites: readonly [title: string, probes: Result[], lastEventAt: number | null, site: SiteStatus][] = [
  ['never sent anything is unknown', [without, health], null, { status: 'unknown', reason: 'no_data' }],
  ['never sent anything and is down is critical', [critical, without], null, { status: 'critical', reason: null }],
  ['sends and is judged is ok', [health, learning], NOW - HOUR, { status: 'ok', reason: null }],
  [
    'sends and has learning probes only is learning',
    [learning, without],
    NOW,
    { status: 'unknown', reason: 'learning' },
  ],
  ['sends and has nothing to judge says so', [without], NOW, { status: 'unknown', reason: 'no_data' }],
  ['sends and waits for first results is unknown', [first], NOW, { status: 'unknown', reason: null }],
  [
    'went quiet before its norm was known is unknown',
    [health, learning],
    NOW - 2 * DAY,
    { status: 'unknown', reason: 'no_data' },
  ],
  ['sends seldom, as is its norm, is ok', [fresh], NOW - 2 * DAY, { status: 'ok', reason: null }],
  ['fails on its first day is critical', [critical, learning], NOW, { status: 'critical', reason: null }],
]
for (const [title, probes, lastEventAt, expected] of sites) {
  test(`a site that ${title}`, () => assert.deepEqual(siteStatus(probes, lastEventAt, NOW), expected))
}
