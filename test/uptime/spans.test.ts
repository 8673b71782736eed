import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayStatus, uptimeOf } from '../../src/uptime/read-days.ts'
import { type Evidence, localDays, merged, type StateTimes, timesIn, within, without } from '../../src/uptime/spans.ts'

const span = (from: number, to: number) => ({ from, to })
const DAY = span(0, 100)

const evidence = (over: Partial<Evidence>): Evidence => ({
  outages: [],
  ran: [DAY],
  judged: [DAY],
  maintained: [],
  critical: [],
  warning: [],
  unchecked: [],
  ...over,
})

const NOTHING: StateTimes = { ok: 0, warning: 0, critical: 0, maintenance: 0, unknown: 0 }

const CASES: readonly (readonly [string, Partial<Evidence>, Partial<StateTimes>])[] = [
  ['what was judged and had no alert is ok', {}, { ok: 100 }],
  ['what no probe looked at is unknown', { ran: [], judged: [] }, { unknown: 100 }],
  ['what was looked at and not judged is unknown', { judged: [span(0, 30)] }, { ok: 30, unknown: 70 }],
  [
    'own downtime is unknown, though an alert was open',
    { outages: [span(10, 30)], critical: [DAY] },
    { critical: 80, unknown: 20 },
  ],
  [
    'an open alert counts while a silence leaves nothing to judge',
    { judged: [], critical: [span(40, 60)] },
    { critical: 20, unknown: 80 },
  ],
  [
    'an alert that was open while no probe ran is unknown',
    { ran: [span(0, 50)], critical: [DAY] },
    { critical: 50, unknown: 50 },
  ],
  [
    'critical hides a warning',
    { critical: [span(10, 30)], warning: [span(20, 50)] },
    { critical: 20, warning: 20, ok: 60 },
  ],
  ['two alerts at once count once', { critical: [span(10, 30), span(20, 40)] }, { critical: 30, ok: 70 }],
  [
    'a check that cannot run is unknown, not ok',
    { unchecked: [span(0, 40)], warning: [span(30, 50)] },
    { ok: 50, warning: 20, unknown: 30 },
  ],
  [
    'planned maintenance is neither good nor bad',
    { maintained: [span(0, 40)], critical: [span(20, 60)] },
    { maintenance: 40, critical: 20, ok: 40 },
  ],
  [
    'what lies outside of the day does not count',
    { critical: [span(-50, 10), span(90, Number.POSITIVE_INFINITY)] },
    { critical: 20, ok: 80 },
  ],
]

for (const [title, over, expected] of CASES) {
  test(`uptime: ${title}`, () => {
    const times = timesIn(DAY, evidence(over))
    assert.deepEqual(times, { ...NOTHING, ...expected })
    assert.equal(
      Object.values(times).reduce((sum, time) => sum + time, 0),
      100,
      'each instant counts once',
    )
  })
}

test('spans are joined, cut and taken away in any order', () => {
  assert.deepEqual(merged([span(5, 8), span(1, 3), span(3, 5), span(9, 9)]), [span(1, 8)])
  assert.deepEqual(merged([span(1, 9), span(2, 4)]), [span(1, 9)], 'the longer one goes on')
  assert.deepEqual(within([span(4, 6)], [span(0, 4), span(6, 9)]), [], 'what only touches is not inside')
  assert.deepEqual(within([span(0, 4), span(6, 10)], [span(8, 20), span(3, 7)]), [span(3, 4), span(6, 7), span(8, 10)])
  assert.deepEqual(without([span(0, 10)], [span(2, 3), span(3, 4), span(8, 12)]), [span(0, 2), span(4, 8)])
  assert.deepEqual(without([span(0, 10)], [span(-5, 20)]), [])
})

test('uptime counts critical time against judged time, and knows nothing of what no one judged', () => {
  assert.equal(uptimeOf({ ...NOTHING, unknown: 100 }), null)
  assert.equal(uptimeOf({ ...NOTHING, maintenance: 100 }), null)
  assert.equal(uptimeOf({ ok: 50, warning: 25, critical: 25, maintenance: 100, unknown: 100 }), 0.75)
})

test('a day is called by the worst it had, and is ok only when more of it was ok than unknown', () => {
  for (const [times, status] of [
    [{ ok: 97, warning: 1, critical: 1, maintenance: 1 }, 'critical'],
    [{ ok: 98, warning: 1, maintenance: 1 }, 'warning'],
    [{ ok: 49, maintenance: 51 }, 'maintenance'],
    [{ ok: 50, maintenance: 50 }, 'ok'],
    [{ ok: 51, unknown: 49 }, 'ok'],
    [{ ok: 50, unknown: 50 }, 'unknown'],
  ] as const) {
    assert.equal(dayStatus({ ...NOTHING, ...times }), status, JSON.stringify(times))
  }
})

test('days follow the calendar of the zone over changes of its clocks and days that it left out', () => {
  const hours = ({ from, to }: { from: number; to: number }) => (to - from) / 3_600_000
  const autumn = localDays('Europe/Berlin', Date.parse('2026-10-26T10:00:00Z'), 3)
  assert.deepEqual(
    autumn.map((day) => [day.day, hours(day)]),
    [
      ['2026-10-24', 24],
      ['2026-10-25', 25],
      ['2026-10-26', 24],
    ],
  )
  const samoa = localDays('Pacific/Apia', Date.parse('2011-12-31T20:00:00Z'), 4)
  assert.deepEqual(
    samoa.map(({ day }) => day),
    ['2011-12-29', '2011-12-31', '2012-01-01'],
  )
})
