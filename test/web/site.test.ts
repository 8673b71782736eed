import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertRecord } from '../../src/alerts/index.ts'
import { withQuery } from '../../web/src/api/client.ts'
import { changeMarks, changesOf } from '../../web/src/features/site/changes.ts'
import { calmBucket, columnsOf, fineBucket, later, totalOf } from '../../web/src/features/site/columns.ts'
import {
  failureRate,
  heatCells,
  heatLevel,
  heatRows,
  keysOf,
  mixed,
  shareOf,
} from '../../web/src/features/site/heat.ts'
import { alertSpans } from '../../web/src/features/site/marks.ts'
import { reasonInWords, summaryOf } from '../../web/src/features/site/payload.ts'
import { isAbout, weekBefore } from '../../web/src/features/site/site-scope.ts'
import { change, clock, figure, roughly, span } from '../../web/src/features/site/words.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NOON = Date.parse('2026-11-20T12:00:00Z')

const iso = (at: number) => new Date(at).toISOString()
const series = (key: string, from: number, step: number, values: readonly (number | null)[]) => ({
  key,
  points: values.map((value, index) => ({ t: iso(from + index * step), value })),
})

test('the heat scale is log-like: neutral at none, red at all, and one in a hundred is seen', () => {
  const cases: readonly [share: number, level: number][] = [
    [-1, 0],
    [0, 0],
    [0.001, 0.02],
    [0.01, 0.15],
    [0.1, 0.52],
    [0.31, 0.75],
    [1, 1],
    [2, 1],
  ]
  for (const [share, level] of cases) assert.equal(Math.round(heatLevel(share) * 100) / 100, level, String(share))
  assert.equal(mixed('#000000', '#ff0080', 0.5), 'rgb(128,0,64)')
  assert.equal(mixed('#102030', '#ffffff', 0), 'rgb(16,32,48)')
})

test('a time without executions has no cell: that nothing ran is not that nothing failed', () => {
  const executions = [series('GA4', NOON, HOUR, [10, 0, 4]), series('Meta', NOON, HOUR, [0, null, 5])]
  const failures = [series('Meta', NOON, HOUR, [0, 0, 5])]
  assert.deepEqual(heatCells(['Meta', 'GA4', 'gone'], executions, failures), [
    { at: NOON + 2 * HOUR, row: 0, executions: 5, bad: 5 },
    { at: NOON, row: 1, executions: 10, bad: 0 },
    { at: NOON + 2 * HOUR, row: 1, executions: 4, bad: 0 },
  ])
  assert.equal(shareOf(0, 0), null)
})

test('buckets become columns as the clock shows them, and no count is lost', () => {
  const from = NOON + 5 * MINUTE
  const minutes = series(
    'events',
    from,
    MINUTE,
    Array.from({ length: 120 }, () => 1),
  )
  const cases: readonly [most: number, width: number, columns: number][] = [
    [200, MINUTE, 120],
    [120, MINUTE, 120],
    [60, 2 * MINUTE, 61],
    [10, 15 * MINUTE, 9],
  ]
  for (const [most, width, columns] of cases) {
    const made = columnsOf([minutes], 60, most)
    assert.equal(made.width, width)
    const points = made.series[0]?.points ?? []
    assert.equal(points.length, columns, String(most))
    assert.equal(
      points.reduce((sum, { value }) => sum + (value ?? 0), 0),
      120,
    )
    for (const { t } of most < 120 ? points : []) assert.equal(Date.parse(t) % width, 0, t)
  }
  assert.deepEqual(columnsOf([], 60, 10), { series: [], width: MINUTE })
})

test('the window before is laid under this one, and series are added up', () => {
  const before = [series('a', NOON - DAY, HOUR, [1, 2]), series('b', NOON - DAY, HOUR, [3, null])]
  assert.deepEqual(later([totalOf(before, 'all')], DAY), [series('all', NOON, HOUR, [4, 2])])
})

test('a change is said as people say it', () => {
  const cases: readonly [...Parameters<typeof change>, string | undefined][] = [
    [112, 100, 'count', '+12\u00a0%'],
    [50, 100, 'count', '−50\u00a0%'],
    [100, 100, 'count', 'as before'],
    [0, 0, 'count', 'as before'],
    [7, 0, 'count', 'none before'],
    [0, 40, 'count', '−100\u00a0%'],
    [4, 1_000, 'count', '−99\u00a0%'],
    [2_900, 100, 'count', '29 × as many'],
    [0.31, 0.004, 'rate', 'was 0.4\u00a0%'],
    [71, 93, 'points', 'was 93'],
    [100, 1_250, 'ms', 'was 1.3\u00a0s'],
    [1, undefined, 'count', undefined],
    [1, null, 'rate', undefined],
  ]
  for (const [now, before, kind, words] of cases) assert.equal(change(now, before, kind), words)
  assert.deepEqual(
    [figure(null, 'rate'), figure(84.4, 'ms'), figure(12_408, 'count'), figure(69.84, 'points')],
    ['–', '84\u00a0ms', '12.4k', '69'],
  )
  assert.deepEqual([15 * MINUTE, 2 * HOUR, DAY, 7 * DAY].map(span), ['15\u00a0min', '2\u00a0h', 'day', '7 days'])
})

test('a time of another day in the zone of the site names the day', () => {
  const now = Date.parse('2026-11-20T23:30:00Z')
  assert.equal(clock(now - HOUR, now, 'UTC'), '22:30')
  assert.equal(clock(now - HOUR, now, 'Europe/Berlin'), '20 Nov, 23:30')
})

test('buckets follow the length of the window', () => {
  const lengths = [HOUR, 6 * HOUR, DAY, 30 * DAY, 90 * DAY]
  assert.deepEqual(lengths.map(fineBucket), ['5m', '5m', 'auto', 'auto', 'auto'])
  assert.deepEqual(lengths.map(calmBucket), ['5m', '5m', '1h', '1h', 'auto'])
})

const alert = (from: number, to: number | null, over: Partial<AlertRecord> = {}) =>
  ({
    subject: 'target',
    severity: 'critical',
    started_at: iso(from),
    resolved_at: to === null ? null : iso(to),
    ...over,
  }) as AlertRecord

test('alerts are stretches of the window; that a check fails says nothing of the site', () => {
  const [from, to] = [NOON, NOON + 6 * HOUR]
  const severity = 'critical'
  assert.deepEqual(
    alertSpans(
      [
        alert(from + HOUR, null),
        alert(from - HOUR, from + HOUR),
        alert(to - HOUR, to + HOUR),
        alert(from - 2 * HOUR, from),
        alert(to, null),
        alert(from + HOUR, null, { subject: 'check' }),
      ],
      from,
      to,
    ),
    [
      { from: from + HOUR, to: null, severity },
      { from, to: from + HOUR, severity },
      { from: to - HOUR, to, severity },
    ],
  )
})

test('what changed is named where its name has room, the latest first', () => {
  const marker = (at: number, to_version: string) => ({
    at: iso(at),
    source: 'web container',
    from_version: null,
    to_version,
  })
  const annotation = {
    ...{ id: 'a', client_id: 'c', site_id: null, url: null, created_at: iso(NOON), created_by: 'admin' },
    at: iso(NOON + 6 * HOUR),
    text: 'The consent banner changed',
  }
  const changes = changesOf(
    [marker(NOON, '41'), marker(NOON + HOUR, '42'), marker(NOON + 2 * HOUR, '43')],
    [annotation],
  )
  assert.deepEqual(changeMarks(changes, 10 * HOUR), [
    { at: NOON + 6 * HOUR, label: 'The consent banne…' },
    { at: NOON + 2 * HOUR, label: 'web 43' },
    { at: NOON + HOUR },
    { at: NOON, label: 'web 41' },
  ])
})

test('a week ago is the same time by the clock, also where clocks changed in between', () => {
  const range = { from: '2026-10-26T08:00:00.000Z', to: '2026-10-26T09:00:00.000Z' }
  assert.deepEqual(weekBefore(range, 'Europe/Berlin'), {
    from: '2026-10-19T07:00:00.000Z',
    to: '2026-10-19T08:00:00.000Z',
  })
  assert.deepEqual(weekBefore(range, 'UTC'), { from: '2026-10-19T08:00:00.000Z', to: '2026-10-19T09:00:00.000Z' })
})

test('a report of a week ago is shown until the next minute has its own, but not beside another window', () => {
  const window = { from: iso(NOON - DAY), to: iso(NOON) }
  const cases: readonly [from: number, to: number, isAbout: boolean][] = [
    [-DAY, 0, true],
    [-DAY - MINUTE, -MINUTE, true],
    [-DAY - HOUR, -HOUR, false],
    [-7 * DAY, 0, false],
    [-HOUR, 0, false],
    [-DAY, -HOUR, false],
  ]
  for (const [from, to, is] of cases) {
    assert.equal(isAbout({ from: iso(NOON + from), to: iso(NOON + to) }, window), is, `${from} to ${to}`)
  }
})

test('a payload is summed up in a line, of an event and of a batch', () => {
  const accepted_at = iso(NOON)
  const event = {
    accepted_at,
    container_id: 'GTM-ABC1234',
    event_name: 'purchase',
    tags: [
      { id: '1', status: 'success' },
      { id: '2', status: 'timeout' },
    ],
    user_data: { has_email: true, has_phone: false, has_first_name: true },
  }
  assert.deepEqual(summaryOf(event), {
    what: 'purchase',
    container: 'GTM-ABC1234',
    tags: '2, 1 failed',
    isBad: true,
    userData: 'email, first name',
    ecommerce: '',
  })
  const batch = {
    accepted_at,
    container_id: 'GTM-ABC1234',
    batch: true,
    total_events: 20,
    tag_metrics: { GA4: { success: 20, failure: 0 } },
    user_data_quality: { total: 20, email: 12 },
  }
  assert.deepEqual(summaryOf(batch), {
    what: 'batch of 20 events',
    container: 'GTM-ABC1234',
    tags: '1',
    isBad: false,
    userData: 'email 12 of 20',
    ecommerce: '',
  })
  assert.equal(summaryOf({ accepted_at }).what, '')
  const container = { version: '42', environment: 'Staging' }
  assert.deepEqual(
    [{ preview: true }, { preview: true, container }, { preview: false, container }].map(
      (more) => summaryOf({ ...event, ...more }).what,
    ),
    ['purchase (preview)', 'purchase (environment “Staging”, not counted)', 'purchase'],
  )
  const [ten, one] = [10, 1].map((weight) => ({ ...event, weight }))
  assert.deepEqual(
    [ten, one].map((sent) => sent && summaryOf(sent).what),
    ['purchase × 10', 'purchase'],
  )
  assert.equal(reasonInWords('rate_limited'), 'More than the plan allows')
  assert.equal(reasonInWords('unavailable'), 'The service was overloaded')
  assert.equal(reasonInWords('of_tomorrow'), 'of_tomorrow')
})

test('the heat map asks for its rows in one order, and for all where their names are too long for an address', () => {
  assert.deepEqual(keysOf(['Meta', 'GA4']), { keys: ['GA4', 'Meta'] })
  assert.deepEqual(keysOf(Array.from({ length: 12 }, () => 'ä'.repeat(200))), {})
  assert.equal(withQuery('/x', { a: 1, keys: ['b c', 'd&e'], none: null }), '/x?a=1&keys=b+c&keys=d%26e')
})

test('executions of which a batch gives no outcome are not failures, in no figure of the page', () => {
  const names = { tag_id: null, tag_name: null, vendor: null, vendor_by_hand: false, success_rate: 0.9 }
  const times = { avg_ms: null, p50_ms: null, p95_ms: null, p99_ms: null }
  const counts = { executions: 100, success: 90, failure: 2, timeout: 1, exception: 1 }
  const tag = { ...names, ...times, ...counts, tag_key: 'GA4' }
  assert.deepEqual(heatRows([tag]), [{ name: 'GA4', executions: 100, bad: 4, before: undefined }])
  assert.deepEqual([failureRate([tag, { ...tag, failure: 0 }]), failureRate([])], [0.03, null])
})

test('a rough count agrees with its noun and verb', () => {
  assert.equal(roughly(1, 'event that reports it', 'events that report it'), '1 event that reports it')
  assert.equal(roughly(12_400, 'event'), '12.4k events')
})
