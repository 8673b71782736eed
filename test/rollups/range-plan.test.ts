import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { GRAIN, localDay, planRange, type ReadableRows, widenRange } from '../../src/rollups/index.ts'

const MIDNIGHT = Date.parse('2026-11-18T00:00:00Z')
const none = new Set<number>()
const at = (day: number, time: string) => MIDNIGHT + day * DAY + Date.parse(`1970-01-01T${time}Z`)

const readable = (over: Partial<ReadableRows> = {}): ReadableRows => ({
  finest: GRAIN.minute,
  coarsest: GRAIN.day,
  minuteRowsFrom: 0,
  singleMinutesFrom: 0,
  splitOf: () => 0,
  ...over,
})
const halfHours = readable({ splitOf: () => 30 * MINUTE })

const NAMES = new Map<number, string>(Object.entries(GRAIN).map(([name, grain]) => [grain, name]))

/** The plan as lines like `hour 18T01:00 18T23:00`. */
function plan(from: number, to: number, rows: ReadableRows, hours = none, days = none, lateHours = none): string[] {
  const clock = (time: number) => isoTime(time).slice('2026-11-'.length, '2026-11-18T00:00'.length)
  return planRange({ from, to }, { hours, lateHours, days }, rows).map(
    (segment) => `${NAMES.get(segment.grain)} ${clock(segment.from)} ${clock(segment.to)}`,
  )
}

test('a range is read as days inside, hours around them and minutes at its ends', () => {
  assert.deepEqual(plan(at(0, '22:40'), at(2, '01:10'), readable()), [
    'minute 18T22:40 18T23:00',
    'hour 18T23:00 19T00:00',
    'day 19T00:00 20T00:00',
    'hour 20T00:00 20T01:00',
    'minute 20T01:00 20T01:10',
  ])
})

test('ends inside a minute are widened to it', () => {
  assert.deepEqual(plan(at(0, '10:00:30'), at(0, '10:05:00.001'), readable()), ['minute 18T10:00 18T10:06'])
})

test('a dirty hour is read from minutes, and its day from hours', () => {
  assert.deepEqual(plan(at(0, '00:00'), at(1, '00:00'), readable(), new Set([at(0, '05:00')])), [
    'hour 18T00:00 18T05:00',
    'minute 18T05:00 18T06:00',
    'hour 18T06:00 19T00:00',
  ])
})

test('of an hour whose minutes are deleted, those that came late are read beside the row that holds the others', () => {
  const late = new Set([at(0, '05:00'), at(1, '05:00')])
  const rows = readable({ minuteRowsFrom: at(1, '00:00') })
  assert.deepEqual(plan(at(0, '00:00'), at(1, '05:30'), rows, none, none, late), [
    'day 18T00:00 19T00:00',
    'hour 19T00:00 19T05:00',
    'minute 19T05:00 19T05:30',
    'minute 18T05:00 18T06:00',
  ])
})

test('a dirty day is read from hours', () => {
  assert.deepEqual(plan(at(0, '00:00'), at(2, '00:00'), readable(), none, new Set([at(1, '00:00')])), [
    'day 18T00:00 19T00:00',
    'hour 19T00:00 20T00:00',
  ])
})

test('a reader whose buckets are hours gets no days, and one whose buckets are minutes gets minutes only', () => {
  const range = [at(0, '00:00'), at(1, '00:00')] as const
  assert.deepEqual(plan(...range, readable({ coarsest: GRAIN.hour })), ['hour 18T00:00 19T00:00'])
  assert.deepEqual(plan(...range, readable({ coarsest: GRAIN.minute })), ['minute 18T00:00 19T00:00'])
})

test('where minute rows are deleted the ends are widened to whole hours', () => {
  const rows = readable({ minuteRowsFrom: at(1, '00:00') })
  assert.deepEqual(widenRange({ from: at(0, '10:20'), to: at(0, '11:40') }, rows), {
    from: at(0, '10:00'),
    to: at(0, '12:00'),
  })
  assert.deepEqual(plan(at(0, '22:20'), at(1, '00:20'), rows), ['hour 18T22:00 19T00:00', 'minute 19T00:00 19T00:20'])
})

test('where minutes are added up by fives the ends are widened to five minutes', () => {
  const rows = readable({ singleMinutesFrom: at(1, '00:00') })
  assert.deepEqual(widenRange({ from: at(0, '10:22'), to: at(0, '11:36') }, rows), {
    from: at(0, '10:20'),
    to: at(0, '11:40'),
  })
  assert.deepEqual(plan(at(0, '22:33'), at(1, '00:21'), rows), [
    'minute 18T22:30 18T23:00',
    'hour 18T23:00 19T00:00',
    'minute 19T00:00 19T00:21',
  ])
})

test('a table whose finest rows are hours is read in whole hours, and of dirty ones also what parts add', () => {
  const rows = readable({ finest: GRAIN.hour })
  assert.deepEqual(plan(at(0, '10:20'), at(0, '11:40'), rows, new Set([at(0, '11:00'), at(0, '12:00')])), [
    'hour 18T10:00 18T12:00',
    'minute 18T11:00 18T12:00',
  ])
})

test('where hour rows stand for local days the ends are widened to these, and no UTC days are read', () => {
  const days = { before: at(2, '05:00'), of: (time: number) => localDay('America/New_York', time) }
  const rows = readable({ finest: GRAIN.hour, wholeDays: days })
  assert.deepEqual(widenRange({ from: at(0, '10:20'), to: at(0, '10:40') }, rows), {
    from: at(0, '05:00'),
    to: at(1, '05:00'),
  })
  assert.deepEqual(plan(at(0, '10:20'), at(5, '10:20'), rows), [
    'hour 18T05:00 21T00:00',
    'day 21T00:00 23T00:00',
    'hour 23T00:00 23T11:00',
  ])
})

test('where midnight is inside an hour, a local day that was asked for is widened to no other', () => {
  const days = { before: at(3, '19:00'), of: (time: number) => localDay('Asia/Kolkata', time) }
  const rows = readable({ finest: GRAIN.hour, wholeDays: days })
  const day = { from: at(0, '19:00'), to: at(1, '19:00') }
  assert.deepEqual(widenRange({ from: at(0, '18:30'), to: at(1, '18:30') }, rows), day)
  assert.deepEqual(widenRange({ from: at(0, '18:40'), to: at(0, '18:50') }, rows), day)
  assert.deepEqual(widenRange(day, rows), day)
})

test('where local hours start inside UTC hours, hour rows serve ranges that end there', () => {
  assert.deepEqual(plan(at(0, '10:30'), at(0, '12:30'), halfHours), ['hour 18T10:30 18T12:30'])
  assert.deepEqual(plan(at(0, '10:20'), at(0, '12:00'), halfHours), [
    'minute 18T10:20 18T11:00',
    'hour 18T11:00 18T12:00',
  ])
  const old = readable({ splitOf: () => 30 * MINUTE, minuteRowsFrom: at(1, '00:00') })
  assert.deepEqual(widenRange({ from: at(0, '10:40'), to: at(0, '11:10') }, old), {
    from: at(0, '10:30'),
    to: at(0, '11:30'),
  })
})

test('an empty range has an empty plan', () => {
  assert.deepEqual(plan(at(0, '10:00'), at(0, '10:00'), readable()), [])
})

const someHours = fc.uniqueArray(fc.integer({ min: -24, max: 96 }), { maxLength: 8 })
const someDays = fc.uniqueArray(fc.integer({ min: -1, max: 4 }), { maxLength: 3 })
const minutes = fc.integer({ min: 0, max: 72 * 60 })

test('whatever is dirty, the segments tile the range and never read rows that are out of date', () => {
  fc.assert(
    fc.property(
      minutes,
      minutes,
      someHours,
      someDays,
      fc.constantFrom(0, 15, 30),
      fc.integer({ min: 0, max: 72 }),
      fc.integer({ min: 0, max: 72 }),
      (start, length, hours, days, split, goneHours, fivesHours) => {
        const dirtyHours = new Set(hours.map((hour) => MIDNIGHT + hour * HOUR))
        const dirtyDays = new Set(days.map((day) => MIDNIGHT + day * DAY))
        const rows = readable({
          splitOf: () => split * MINUTE,
          minuteRowsFrom: MIDNIGHT + goneHours * HOUR,
          singleMinutesFrom: MIDNIGHT + fivesHours * HOUR,
        })
        const range = { from: MIDNIGHT + start * MINUTE, to: MIDNIGHT + (start + length) * MINUTE }
        const widened = widenRange(range, rows)
        assert.deepEqual(widenRange(widened, rows), widened)
        assert.ok(widened.from <= range.from && widened.to >= range.to)
        let end = widened.from
        for (const segment of planRange(range, { hours: dirtyHours, lateHours: none, days: dirtyDays }, rows)) {
          assert.equal(segment.from, end)
          assert.ok(segment.to > segment.from)
          for (const edge of [segment.from, segment.to])
            assert.ok(edge % (5 * MINUTE) === 0 || edge > rows.singleMinutesFrom)
          end = segment.to
          for (let time = segment.from; time < segment.to; time += MINUTE) {
            const hour = floorTo(time, HOUR)
            const day = floorTo(time, DAY)
            if (segment.grain === GRAIN.minute) assert.ok(dirtyHours.has(hour) || hour >= rows.minuteRowsFrom)
            else assert.ok(!dirtyHours.has(hour))
            if (segment.grain === GRAIN.day) {
              assert.ok(!dirtyDays.has(day) && segment.from <= day && day + DAY <= segment.to)
              assert.ok([...dirtyHours].every((dirty) => floorTo(dirty, DAY) !== day))
            }
          }
        }
        if (widened.to > widened.from) assert.equal(end, widened.to)
      },
    ),
  )
})
