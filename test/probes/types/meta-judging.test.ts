import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventQuality, eventsIn } from '../../../src/probes/meta-quality/answer.ts'
import { reasonOf } from '../../../src/probes/meta-quality/failure.ts'
import { judgeQuality, type QualityLimits } from '../../../src/probes/meta-quality/judge.ts'
import { browserOnly, quality, TOKEN } from './meta-server.ts'

const LIMITS: QualityLimits = {
  events: [],
  warning_match_quality: 6,
  critical_match_quality: 4,
  warning_coverage_percent: 50,
  critical_coverage_percent: 20,
  slowest_upload: 'hourly',
}

const event = (over: Partial<EventQuality> = {}): EventQuality => ({
  name: 'Purchase',
  matchQuality: 7,
  coveragePercent: 80,
  coverageGoalPercent: 75,
  upload: 'real_time',
  ...over,
})

const JUDGED: readonly [what: string, over: Partial<EventQuality>, limits: Partial<QualityLimits>, findings: string][] =
  [
    ['all well', {}, {}, ''],
    ['a match quality at the limit', { matchQuality: 6 }, {}, ''],
    ['a match quality below 6', { matchQuality: 5.9 }, {}, 'match_quality warning'],
    ['a match quality at the lower limit', { matchQuality: 4 }, {}, 'match_quality warning'],
    ['a match quality below 4', { matchQuality: 3.9 }, {}, 'match_quality critical'],
    ['a match quality of 0', { matchQuality: 0 }, {}, 'match_quality critical'],
    ['limits of its own', { matchQuality: 7.9 }, { warning_match_quality: 8 }, 'match_quality warning'],
    ['a coverage at the limit', { coveragePercent: 50 }, {}, ''],
    ['a coverage below the limit', { coveragePercent: 49.9 }, {}, 'coverage warning'],
    ['a coverage far below it', { coveragePercent: 19 }, {}, 'coverage critical'],
    ['coverage that is never critical', { coveragePercent: 0 }, { critical_coverage_percent: 0 }, 'coverage warning'],
    [
      'coverage that is not judged',
      { coveragePercent: 0 },
      { warning_coverage_percent: 0, critical_coverage_percent: 0 },
      '',
    ],
    ['no server behind a coverage of 0', { matchQuality: null, coveragePercent: 0 }, {}, ''],
    ['an upload at the limit', { upload: 'hourly' }, {}, ''],
    ['an upload that is too slow', { upload: 'daily' }, {}, 'upload_frequency warning'],
    ['an upload by the week', { upload: 'weekly' }, { slowest_upload: 'daily' }, 'upload_frequency warning'],
    [
      'an upload that has to be in real time',
      { upload: 'hourly' },
      { slowest_upload: 'real_time' },
      'upload_frequency warning',
    ],
    ['any upload', { upload: 'weekly' }, { slowest_upload: 'any' }, ''],
    ['an upload in a word that is not known', { upload: 'now_and_then' }, {}, ''],
  ]

for (const [what, over, limits, findings] of JUDGED) {
  test(`Meta quality: ${what} is ${findings === '' ? 'ok' : findings}`, () => {
    const verdict = judgeQuality([event(over)], { ...LIMITS, ...limits })
    const found = verdict.details.findings.map(({ subject, status }) => `${subject.field} ${status}`)
    assert.equal(found.join(), findings)
    assert.equal(verdict.status, findings === '' ? 'ok' : findings.split(' ')[1])
  })
}

const NO_COVERAGE = { warning_coverage_percent: 0, critical_coverage_percent: 0 }
const SAID: readonly [what: string, over: Partial<EventQuality>, limits: Partial<QualityLimits>, said: RegExp][] = [
  ['enough', {}, {}, /^Event match quality of “Purchase” is 7 of 10, 6 is enough$/],
  ['the limit of a warning', { matchQuality: 5.9 }, {}, /is 5\.9 of 10, below 6:/],
  ['a coverage without a goal', { coveragePercent: 19, coverageGoalPercent: null }, {}, /events, below 20 %$/],
  ['an upload by the week', { upload: 'weekly' }, {}, /^Meta receives “Purchase” weekly, not by the hour:/],
  ['an upload in a word not known', { upload: 'now_and_then' }, {}, /\(not judged: Meta says no freshness of/],
  ['nothing of a coverage not judged', { coveragePercent: null }, NO_COVERAGE, /is enough$/],
]
for (const [what, over, limits, said] of SAID) {
  test(`Meta quality: its message says ${what}`, () => {
    assert.match(judgeQuality([event(over)], { ...LIMITS, ...limits }).message, said)
  })
}

test('Meta quality: the worst figure of all events speaks first, with the numbers that decided', () => {
  const verdict = judgeQuality(
    [event({ name: 'Lead', coveragePercent: 31.4 }), event({ matchQuality: 3.2 }), event({ name: 'Search' })],
    LIMITS,
  )
  assert.equal(verdict.status, 'critical')
  assert.equal(
    verdict.message,
    'Event match quality of “Purchase” is 3.2 of 10, below 4: Meta recognises too few of the people behind it (and 1 more)',
  )
  assert.equal(
    verdict.details.findings[1]?.message,
    "The server covers 31 % of the browser's “Lead” events, below 50 % (Meta wants 75 %)",
  )
  assert.equal(verdict.fine.length, 7)
})

test('Meta quality: what Meta does not say is not judged, and is said', () => {
  const verdict = judgeQuality(
    [
      event(),
      event({ name: 'Lead', matchQuality: 6.5, coveragePercent: null, upload: null }),
      event({ name: 'PageView', matchQuality: null, upload: null }),
    ],
    { ...LIMITS, events: ['Purchase', 'lead', 'pageview', 'Subscribe'] },
  )
  assert.equal(verdict.status, 'ok')
  assert.equal(
    verdict.message,
    'Event match quality of 2 events is 6 of 10 or more, the lowest 6.5 of “Lead” (not judged: Meta says no coverage of “Lead”, no freshness of “Lead”, nothing of “Subscribe”, “PageView”)',
  )
  assert.deepEqual(verdict.missing, [{ event_name: 'Lead', figures: ['coverage', 'upload_frequency'] }])
})

test('Meta quality: only the chosen events are judged, however they are spelt', () => {
  const all = [event({ matchQuality: 1 }), event({ name: 'Lead' })]
  assert.equal(judgeQuality(all, { ...LIMITS, events: ['LEAD'] }).status, 'ok')
  assert.equal(judgeQuality(all, { ...LIMITS, events: ['purchase'] }).status, 'critical')
})

test('an answer of Meta is read in every form that it was seen in', () => {
  const list = [quality('Purchase'), browserOnly('PageView')]
  const forms = [{ web: list }, { data: [{ web: list }] }, { data: list }]
  for (const form of forms) {
    assert.deepEqual(eventsIn(form, TOKEN), [
      { name: 'Purchase', matchQuality: 7.4, coveragePercent: 82.5, coverageGoalPercent: 75, upload: 'real_time' },
      { name: 'PageView', matchQuality: null, coveragePercent: 0, coverageGoalPercent: 75, upload: null },
    ])
  }
  assert.equal(eventsIn({ web: [quality('Lead', { event_match_quality: '6.2' })] }, TOKEN)?.[0]?.matchQuality, 6.2)
})

for (const answer of [null, 'web', 7, [], {}, { web: {} }, { data: null }]) {
  test(`an answer of Meta without a list is none: ${JSON.stringify(answer)}`, () => {
    assert.equal(eventsIn(answer, TOKEN), null)
  })
}

test('figures that are none are not there, and an event counts once', () => {
  const odd = [11, -1, 'six', '1e9', null, [], Number.MAX_VALUE].map((score, at) =>
    quality(`e${at}`, { event_match_quality: { composite_score: score } }),
  )
  const events = eventsIn({ web: [...odd, quality('e0'), { event_name: 7 }, { event_name: ' ' }, null, 'x'] }, TOKEN)
  assert.equal(events?.length, odd.length)
  assert.ok(events?.every(({ matchQuality }) => matchQuality === null))
})

test('of a hostile answer little is kept, and the token not at all', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => quality(`${at}`))
  assert.equal(eventsIn({ web: names }, TOKEN)?.length, 300)
  const [event] = eventsIn({ web: [quality(`my ${TOKEN} ${'n'.repeat(1_000)}`)] }, TOKEN) ?? []
  assert.equal(event?.name.length, 100)
  assert.doesNotMatch(JSON.stringify(event), /EAAB/)
})

const REASONS: readonly [status: number, code: number | null, subcode: number | null, reason: string][] = [
  [400, 190, 463, 'token'],
  [401, null, null, 'token'],
  [401, 190, 460, 'token'],
  [400, 102, null, 'token'],
  [403, 10, null, 'forbidden'],
  [400, 200, null, 'forbidden'],
  [400, 299, null, 'forbidden'],
  [403, null, null, 'forbidden'],
  [403, 4, null, 'quota'],
  [400, 17, null, 'quota'],
  [400, 613, null, 'quota'],
  [400, 80_004, null, 'quota'],
  [429, null, null, 'quota'],
  [400, 100, 33, 'not_found'],
  [400, 100, 2_044_055, 'not_found'],
  [404, null, null, 'not_found'],
  [500, 1, null, 'unavailable'],
  [400, 2, null, 'unavailable'],
  [502, null, null, 'unavailable'],
  [400, 100, null, 'bad_request'],
  [418, null, null, 'bad_request'],
]
for (const [status, code, subcode, reason] of REASONS) {
  test(`Meta's ${status} with code ${code} and subcode ${subcode} is ${reason}`, () => {
    assert.equal(reasonOf(status, { code, subcode, isTransient: false }), reason)
  })
}

test('what Meta calls transient is unavailable', () => {
  assert.equal(reasonOf(400, { code: 99, subcode: null, isTransient: true }), 'unavailable')
})
