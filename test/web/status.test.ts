import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Status } from '../../src/dashboard/index.ts'
import type { SharedSite } from '../../src/sharing/index.ts'
import { moment, sentence, stateWords } from '../../web/src/features/status/sentence.ts'
import { judgedStatus, unjudgedWords } from '../../web/src/ui/status/status.ts'
import { barInWords, budgetInWords, dayInWords, daysJudged, uptimePercent } from '../../web/src/ui/uptime/words.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const ZONE = 'Europe/Berlin'
const TODAY = '2026-11-20T08:42:10.000Z'
const EARLIER = '2026-11-18T23:30:00.000Z'

const site = (status: Status, since: string | null = null, open = 0): SharedSite => ({
  name: 'shop',
  status,
  reason: null,
  maintenance_until: null,
  since,
  last_event_at: null,
  sparkline: [],
  uptime: null,
  first_day: null,
  days: [],
  alerts: Array.from({ length: open }, () => ({
    title: 'It is down',
    severity: 'critical' as const,
    state: 'open' as const,
    started_at: TODAY,
    opened_at: TODAY,
  })),
})
const [fine, fresh] = [site('ok'), site('unknown')]
const sending = { ...fresh, last_event_at: EARLIER }

const hidden: SharedSite = { ...fresh, maintenance_until: '2026-11-20T10:30:00.000Z' }

const sentences: readonly [status: Status, sites: SharedSite[], said: string][] = [
  ['unknown', [], 'No site is watched yet'],
  ['unknown', [fresh], 'Waiting for a first event'],
  ['unknown', [fresh, sending], 'Waiting for the first results'],
  ['ok', [fine], 'All fine'],
  ['ok', [fine, fresh, fresh], '1 healthy · 2 waiting for a first event'],
  ['ok', [fine, sending], '1 healthy · 1 not judged yet'],
  ['ok', [fine, fresh, sending, sending], '1 healthy · 1 waiting for a first event · 2 not judged yet'],
  ['unknown', [hidden, hidden], '2 under maintenance'],
  ['ok', [fine, hidden, fresh], '1 healthy · 1 under maintenance · 1 waiting for a first event'],
  ['critical', [site('critical', TODAY), hidden], '1 of 2 sites has been broken since 09:42'],
  ['ok', [fine, site('ok', null, 1)], 'Recovering, not confirmed yet'],
  ['critical', [site('critical', TODAY), fine, fine], '1 of 3 sites has been broken since 09:42'],
  [
    'critical',
    [site('critical', TODAY), site('critical', EARLIER), fine],
    '2 of 3 sites have been broken since 19 Nov, 00:30',
  ],
  [
    'critical',
    [site('critical', TODAY), site('critical'), site('warning', EARLIER)],
    '2 of 3 sites have been broken since 09:42',
  ],
  ['critical', [site('critical'), fine], '1 of 2 sites is broken'],
  ['critical', [site('critical', TODAY)], 'The site has been broken since 09:42'],
  ['warning', [site('warning', TODAY), fine], '1 of 2 sites has needed a look since 09:42'],
  ['warning', [site('warning'), site('warning')], '2 of 2 sites need a look'],
  ['error', [site('error', TODAY), fine], '1 of 2 sites could not be checked since 09:42'],
  ['error', [site('error')], 'The site cannot be checked'],
]
for (const [status, sites, said] of sentences) {
  test(`a status page says "${said}"`, () => assert.equal(sentence({ status, sites }, NOW, ZONE), said))
}

test('beside a site stands its state, and since when', () => {
  assert.equal(stateWords(site('critical', TODAY), NOW, ZONE), 'broken since 09:42')
  assert.equal(stateWords(fine, NOW, ZONE), 'fine')
  assert.equal(stateWords({ ...fresh, reason: 'no_data' }, NOW, ZONE), 'no data yet')
  assert.equal(stateWords({ ...fresh, reason: 'learning' }, NOW, ZONE), 'learning')
  const silent = { ...sending, reason: 'no_data' as const, sparkline: [0, 0, 0] }
  assert.equal(stateWords(silent, NOW, ZONE), 'no event in the last 24 hours')
  assert.equal(stateWords({ ...silent, sparkline: [0, 4, 0] }, NOW, ZONE), 'nothing to judge yet')
  assert.equal(stateWords(sending, NOW, ZONE), 'not judged yet')
  assert.equal(stateWords(hidden, NOW, ZONE), 'under maintenance until 11:30')
  const ok = { ...fine, maintenance_until: hidden.maintenance_until }
  assert.equal(stateWords(ok, NOW, ZONE), 'fine')
})

test('a moment of another day, or of the same day of another year, names its day', () => {
  assert.equal(moment(Date.parse(TODAY), NOW, ZONE), '09:42')
  assert.equal(moment(Date.parse('2026-11-19T22:59:00Z'), NOW, ZONE), '19 Nov, 23:59')
  assert.equal(moment(Date.parse('2026-11-19T23:00:00Z'), NOW, ZONE), '00:00')
  assert.equal(moment(Date.parse('2025-11-20T08:00:00Z'), NOW, ZONE), '20 Nov, 09:00')
})

test('a result that judged nothing is not said to be ok', () => {
  assert.equal(judgedStatus({ judged: true, status: 'ok' }), 'ok')
  assert.equal(judgedStatus({ judged: false, status: 'ok' }), 'unknown')
  assert.equal(unjudgedWords({ reason: 'learning' }), 'learning')
  assert.equal(unjudgedWords({ reason: 'no_data' }), 'no data yet')
})

test('the uptime of a young site is of the days since it was judged first', () => {
  const days = (...uptimes: (number | null)[]) => daysJudged(uptimes.map((uptime) => ({ uptime })))
  assert.equal(days(...Array(90).fill(1)), '90 days')
  assert.equal(days(null, null, 1, null, 0), '3 days')
  assert.equal(days(null, null, 0), 'today')
})

test('a bar of 90 days makes no date format for each', (t) => {
  const made = t.mock.method(Intl, 'DateTimeFormat')
  const words = dayInWords({ day: '2026-11-19', status: 'unknown', uptime: null }, null)
  assert.match(words, /^19 Nov: /)
  assert.equal(made.mock.callCount(), 0)
})

test('days before a site existed are not watched yet, and only later ones without data unknown', () => {
  const days = ['17', '18', '19', '20'].map((day) => ({
    ...{ day: `2026-11-${day}`, uptime: day === '20' ? 1 : null },
    status: day === '20' ? ('ok' as const) : ('unknown' as const),
  }))
  const words = (firstDay: string | null) => days.map((day) => dayInWords(day, firstDay).replace(/^\d+ Nov: /, ''))
  assert.deepEqual(words('2026-11-19').slice(0, 3), ['not watched yet', 'not watched yet', 'unknown'])
  assert.deepEqual(words(null).slice(0, 3), ['unknown', 'unknown', 'unknown'])
  assert.equal(barInWords(days, '2026-11-19'), 'The last 4 days: 1 healthy, 1 unknown, 2 not watched yet')
  assert.equal(barInWords(days, '2026-11-17'), 'The last 4 days: 1 healthy, 3 unknown')
})

test('shares of time are rounded down, so that only all of it is 100 %', () => {
  assert.deepEqual(
    [1, 0.999_95, 0.999_999, 0.5, 1 - 0.195, 0].map((share) => uptimePercent(share).replace(/\s/g, ' ')),
    ['100 %', '99.99 %', '99.99 %', '50 %', '80.5 %', '0 %'],
  )
})

test('an error budget that is nearly spent is not 0 %, and one of which little is spent not 100 %', () => {
  const words = (spent_seconds: number) => {
    const budget_seconds = 1_296_000
    return budgetInWords({ left: 1 - spent_seconds / budget_seconds, spent_seconds, budget_seconds }).replace(
      /\s/g,
      ' ',
    )
  }
  assert.deepEqual([0, 1, 1_295_999, 1_296_000].map(words), [
    '100 % of the error budget left',
    '99.99 % of the error budget left',
    '0.01 % of the error budget left',
    'the error budget is used up',
  ])
})
