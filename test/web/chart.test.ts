import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedEvents, withoutMany } from '../../web/src/features/site/columns.ts'
import { type HeatCell, usualShares } from '../../web/src/features/site/heat.ts'
import { intervalOf, stretchOf } from '../../web/src/features/site/marks.ts'
import { bucketText, clockSpan } from '../../web/src/ui/chart/bucket-text.ts'
import { isAlone, isThin, placed, strokes } from '../../web/src/ui/chart/points.ts'
import { tickWriter, timeTicks } from '../../web/src/ui/chart/ticks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const at = (time: string) => Date.parse(time)
const iso = (time: number) => new Date(time).toISOString()

test("ticks stand on full hours and midnights of the site's own clock", () => {
  const cases: readonly [from: string, hours: number, zone: string, labels: string][] = [
    ['2026-11-20T10:20:00Z', 24, 'UTC', '12:00 15:00 18:00 21:00 21 Nov 03:00 06:00 09:00'],
    ['2026-11-20T10:20:00Z', 24, 'Asia/Kolkata', '18:00 21:00 21 Nov 03:00 06:00 09:00 12:00 15:00'],
    ['2026-11-20T10:20:00Z', 1, 'Europe/Berlin', '11:20 11:30 11:40 11:50 12:00 12:10 12:20'],
    ['2026-11-18T05:00:00Z', 72, 'Europe/Berlin', '12:00 19 Nov 12:00 20 Nov 12:00 21 Nov'],
    ['2026-11-13T05:00:00Z', 7 * 24, 'America/New_York', '13 Nov 14 Nov 15 Nov 16 Nov 17 Nov 18 Nov 19 Nov 20 Nov'],
    // The night in which the clocks go back has an hour more, and midnight stays midnight.
    ['2026-10-24T10:00:00Z', 36, 'Europe/Berlin', '12:00 18:00 25 Oct 06:00 12:00 18:00'],
  ]
  for (const [from, hours, zone, labels] of cases) {
    const start = at(from)
    const ticks = timeTicks(start, start + hours * HOUR, zone, 8)
    assert.equal(ticks.map(tickWriter(zone)).join(' '), labels, `${from} ${zone}`)
    assert.deepEqual(
      ticks,
      [...new Set(ticks)].sort((a, b) => a - b),
    )
  }
})

test('there are never more ticks than asked for, whatever the range', () => {
  for (const hours of [1, 3, 7, 24, 49, 168, 720, 2_200, 9_600]) {
    const ticks = timeTicks(at('2026-03-01T07:13:00Z'), at('2026-03-01T07:13:00Z') + hours * HOUR, 'Europe/Berlin', 8)
    assert.ok(ticks.length >= 1 && ticks.length <= 9, `${hours} h: ${ticks.length}`)
  }
})

const NOON = at('2026-11-20T12:00:00Z')
const points = (values: readonly (readonly [value: number | null, base?: number])[]) =>
  values.map(([value, base], index) => ({
    t: iso(NOON + index * HOUR),
    value,
    ...(base !== undefined && { base }),
  }))

test('a rate of an hour that is not over is left out until enough is counted in it, a count is shown as so far', () => {
  const to = NOON + 1.5 * HOUR
  const rates = (base: number) =>
    placed(
      points([
        [0.94, 500],
        [0.36, base],
      ]),
      NOON,
      to,
    ).map(({ value, isPartial }) => [value, isPartial])
  assert.deepEqual(rates(3), [
    [0.94, false],
    [null, true],
  ])
  assert.deepEqual(rates(20), [
    [0.94, false],
    [0.36, true],
  ])
  const counts = placed(points([[500], [3]]), NOON, to)
  assert.deepEqual(
    counts.map(({ value, isPartial }) => [value, isPartial]),
    [
      [500, false],
      [3, true],
    ],
  )
  // A window that begins within a bucket shows a part of it, too.
  assert.equal(placed(points([[1], [2]]), NOON + MINUTE, NOON + 2 * HOUR)[0]?.isPartial, true)
})

test('a point is in the middle of its bucket, also of a day of 23 or 25 hours, and no other day is as long', () => {
  const days = (first: string, hours: readonly number[], to: string) => {
    const starts = [0, ...hours.map((_, index) => hours.slice(0, index + 1).reduce((sum, each) => sum + each))]
    const bars = placed(
      starts.map((start) => ({ t: iso(at(first) + start * HOUR), value: 1 })),
      at(first),
      at(to),
    )
    return bars.map(({ at: middle, start, end, isPartial }) => [
      (middle - start) / HOUR,
      (end - start) / HOUR,
      isPartial,
    ])
  }
  // From the day of the change in Berlin to 23:30 two days later.
  assert.deepEqual(days('2026-03-28T23:00:00Z', [23, 24], '2026-03-31T21:30:00Z'), [
    [11.5, 23, false],
    [12, 24, false],
    [12, 24, true],
  ])
  assert.deepEqual(days('2026-10-23T22:00:00Z', [24, 25], '2026-10-26T23:00:00Z'), [
    [12, 24, false],
    [12.5, 25, false],
    [12, 24, false],
  ])
})

test('little known is drawn apart, joined to what is known well, and a point between gaps stands alone', () => {
  const line = placed(
    points([
      [0.9, 100],
      [0.5, 4],
      [0.9, 100],
      [null, 0],
      [0.8, 90],
      [null, 0],
    ]),
    NOON,
    NOON + DAY,
  )
  assert.deepEqual(line.map(isThin), [false, true, false, false, false, false])
  const { solid, thin } = strokes(line)
  const shown = (stroke: typeof solid) => stroke.map((each) => (each === null ? '-' : each.joins ? 'j' : 'p')).join('')
  assert.equal(shown(solid), 'p-pppp')
  assert.equal(shown(thin), 'jpj---')
  assert.deepEqual(
    solid.map((_, index) => isAlone(solid, index)),
    [true, false, true, false, true, false],
  )
})

test('a bucket is named by its clock times, and by its days when it is longer', () => {
  const bucket = (from: string, ms: number, isPartial = false) => ({ start: at(from), end: at(from) + ms, isPartial })
  const now = at('2026-11-20T15:00:00Z')
  const cases = [
    [bucket('2026-11-20T14:30:00Z', 15 * MINUTE), 'Europe/Berlin', '15:30–15:45, 20 Nov 2026, CET'],
    [bucket('2026-11-20T14:50:00Z', 15 * MINUTE, true), 'UTC', '14:50–15:05, 20 Nov 2026, UTC · so far'],
    [bucket('2026-11-19T14:50:00Z', 15 * MINUTE, true), 'UTC', '14:50–15:05, 19 Nov 2026, UTC · shown in part'],
    [bucket('2026-11-18T23:00:00Z', DAY), 'Europe/Berlin', '19 Nov 2026, CET'],
    // The days on which clocks change, and the hour before the one that comes twice.
    [bucket('2026-03-28T23:00:00Z', 23 * HOUR), 'Europe/Berlin', '29 Mar 2026, CET'],
    [bucket('2026-10-24T22:00:00Z', 25 * HOUR), 'Europe/Berlin', '25 Oct 2026, CEST'],
    [bucket('2026-10-25T00:00:00Z', HOUR), 'Europe/Berlin', '02:00–02:00, 25 Oct 2026, CEST–CET'],
    [bucket('2026-10-25T01:00:00Z', HOUR), 'Europe/Berlin', '02:00–03:00, 25 Oct 2026, CET'],
  ] as const
  for (const [each, zone, text] of cases) assert.equal(bucketText(each, zone, now), text)
  assert.equal(clockSpan(now, now, 'UTC'), '15:00')
})

test('what is usual is the median of the times with enough executions, and unknown with few of them', () => {
  const cell = (row: number, executions: number, bad: number): HeatCell => ({ at: 0, row, executions, bad })
  const quiet = Array.from({ length: 9 }, () => cell(0, 100, 1))
  const usual = usualShares([
    ...quiet,
    cell(0, 62, 42),
    ...Array.from({ length: 9 }, () => cell(1, 5, 5)),
    cell(2, 50, 1),
  ])
  assert.deepEqual([...usual], [[0, 0.01]])
})

test('a picked time survives in the address, and what is none is ignored', () => {
  const picked = { from: NOON, to: NOON + 15 * MINUTE }
  assert.deepEqual(stretchOf(intervalOf(picked)), picked)
  for (const text of ['', 'x/y', iso(NOON), `${iso(NOON)}/${iso(NOON)}`, `${iso(NOON + 1)}/${iso(NOON)}`]) {
    assert.equal(stretchOf(text), null, text)
  }
})

test('among many events those that money hangs on are named, however rare they are', () => {
  const many = Array.from({ length: 40 }, (_, index) => `event_${index}`)
  const named = namedEvents([...many, 'purchase', 'add_to_cart'], 8)
  assert.deepEqual(named, [...many.slice(0, 6), 'purchase', 'add_to_cart'])
  assert.deepEqual(namedEvents(['a', 'b'], 8), ['a', 'b'])
  const important = ['purchase', 'refund', 'begin_checkout', 'add_to_cart', 'generate_lead', 'sign_up']
  assert.deepEqual(namedEvents([...many, ...important], 8), [...many.slice(0, 4), ...important.slice(0, 4)])
})

test('an event called "other" is not added up with the events that are not named', () => {
  const series = (key: string, value: number) => ({ key, points: points([[value]]) })
  const sums = (shown: ReturnType<typeof withoutMany>) =>
    shown.map(({ key, points: [point], token }) => [key, point?.value, token !== undefined])
  const others = [series('click', 3), series('scroll', 2)]
  assert.deepEqual(sums(withoutMany([series('other', 9), ...others], 1)), [
    ['other', 9, false],
    ['all others', 5, true],
  ])
  assert.deepEqual(sums(withoutMany([series('page_view', 9), ...others], 1)), [
    ['page_view', 9, false],
    ['other', 5, true],
  ])
  assert.deepEqual(sums(withoutMany(others, 2)), [
    ['click', 3, false],
    ['scroll', 2, false],
  ])
})
