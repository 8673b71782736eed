import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankValues, changes, creation, type FormValues } from '../../web/src/features/maintenance/form.ts'
import {
  dateIn,
  lengthWords,
  occurrencesIn,
  type Schedule,
  weekdayWords,
  weekFrom,
  windowWords,
} from '../../web/src/features/maintenance/schedule.ts'
import { tomorrowMorning } from '../../web/src/ui/mute/mutes.ts'

const iso = (at: number) => new Date(at).toISOString()
const NOTHING = { starts_at: null, ends_at: null, weekdays: null, start: null, duration_minutes: null, timezone: null }

const weekly = (weekdays: number[], start: string, duration_minutes: number, timezone: string): Schedule => ({
  ...NOTHING,
  kind: 'weekly',
  weekdays,
  start,
  duration_minutes,
  timezone,
})

const WEEKS: readonly [name: string, schedule: Schedule, from: string, to: string, windows: string[]][] = [
  [
    'two nights of a week',
    weekly([2, 4], '02:00', 90, 'Europe/Berlin'),
    '2026-11-16T00:00Z',
    '2026-11-23T00:00Z',
    ['2026-11-17T01:00:00.000Z', '2026-11-19T01:00:00.000Z'],
  ],
  [
    'the one that began before and is still under way',
    weekly([7], '23:00', 180, 'UTC'),
    '2026-11-16T00:00Z',
    '2026-11-17T00:00Z',
    ['2026-11-15T23:00:00.000Z'],
  ],
  [
    'the same local time after the clocks were put back',
    weekly([6, 7], '12:00', 60, 'Europe/Berlin'),
    '2026-10-24T00:00Z',
    '2026-10-26T00:00Z',
    ['2026-10-24T10:00:00.000Z', '2026-10-25T11:00:00.000Z'],
  ],
  [
    'what is once',
    { ...NOTHING, kind: 'once', starts_at: '2026-11-18T10:00Z', ends_at: '2026-11-18T12:00Z' },
    '2026-11-18T11:00Z',
    '2026-11-19T00:00Z',
    ['2026-11-18T10:00:00.000Z'],
  ],
  [
    'nothing that is over',
    { ...NOTHING, kind: 'once', starts_at: '2026-11-18T10:00Z', ends_at: '2026-11-18T12:00Z' },
    '2026-11-18T12:00Z',
    '2026-11-19T00:00Z',
    [],
  ],
]
for (const [name, schedule, from, to, windows] of WEEKS) {
  test(`the calendar shows ${name}`, () => {
    const found = occurrencesIn(schedule, { from: Date.parse(from), to: Date.parse(to) })
    assert.deepEqual(
      found.map((window) => iso(window.from)),
      windows,
    )
  })
}

test('seven days begin at midnight of the zone, when clocks change too', () => {
  const { days, to } = weekFrom('2026-10-20', 'Europe/Berlin')
  assert.equal(iso(days[0]?.from ?? 0), '2026-10-19T22:00:00.000Z')
  assert.equal(iso(to), '2026-10-26T23:00:00.000Z')
  assert.equal(dateIn('2026-02-31x', '2026-01-01'), '2026-01-01')
})

test('a calendar at the end of time shows today instead', () => {
  for (const text of ['9999-12-30', '0000-01-01']) assert.equal(dateIn(text, '2026-01-01'), '2026-01-01')
})

const WORDS: readonly [text: string, expected: string][] = [
  [weekdayWords([1, 2, 3, 4, 5]), 'Mon to Fri'],
  [weekdayWords([7, 1]), 'Mon, Sun'],
  [weekdayWords([1, 2, 3, 4, 5, 6, 7]), 'every day'],
  [lengthWords(90), '1 h 30 min'],
  [lengthWords(1_440), '1 d'],
  [
    windowWords({ starts_at: '2026-11-20T21:00:00Z', ends_at: '2026-11-20T22:30:00Z' }, 'Europe/Berlin'),
    'Fri 20 Nov, 22:00 to 23:30 CET',
  ],
  [
    windowWords({ starts_at: '2026-11-20T22:00:00Z', ends_at: '2026-11-21T01:00:00Z' }, 'UTC'),
    'Fri 20 Nov, 22:00 to Sat 21 Nov, 01:00 UTC',
  ],
]
for (const [text, expected] of WORDS) {
  test(`a schedule reads as "${expected}"`, () => assert.equal(text, expected))
}

test('tomorrow is tomorrow in the zone of the site', () => {
  const lateInBerlin = Date.parse('2026-11-20T23:30:00Z')
  assert.equal(iso(tomorrowMorning(lateInBerlin, 'Europe/Berlin')), '2026-11-22T08:00:00.000Z')
  assert.equal(iso(tomorrowMorning(lateInBerlin, 'America/New_York')), '2026-11-21T14:00:00.000Z')
})

test('the form sends the fields of its kind, with times read in the zone', () => {
  const scope = { client_id: 'acme', site_id: null, probe_id: null }
  const values = { ...blankValues(scope, 'Europe/Berlin', Date.parse('2026-11-20T10:10:00Z')), title: 'Move' }
  assert.deepEqual(creation(values, 'Europe/Berlin'), {
    ...scope,
    title: 'Move',
    kind: 'once',
    starts_at: '2026-11-20T11:00:00.000Z',
    ends_at: '2026-11-20T12:00:00.000Z',
  })
})

test('the form of maintenance sends what was changed in it, and not what someone else may have changed meanwhile', () => {
  const scope = { client_id: 'acme', site_id: null, probe_id: null }
  const once = { ...blankValues(scope, 'Europe/Berlin', Date.parse('2026-11-20T10:10:00Z')), title: 'Move' }
  const sent = (values: FormValues, now: FormValues) => changes(values, { ...opened }, now, 'Europe/Berlin')
  let opened = once
  assert.deepEqual(sent({ ...once, title: 'Late move' }, once), { title: 'Late move' })
  const moved = { ...once, ends_at: '2026-11-20T15:00' }
  assert.deepEqual(sent(moved, { ...once, title: 'Renamed by someone else' }), {
    ends_at: '2026-11-20T14:00:00.000Z',
  })
  const weekly = { ...once, kind: 'weekly' as const }
  opened = weekly
  assert.deepEqual(sent({ ...weekly, weekdays: ['1', '7'] }, weekly), { weekdays: [1, 7] })
})

for (const minutes of [Number.NaN, -5, 10_081, 999_999_999_999]) {
  test(`${minutes} minutes, half-typed, are no maintenance`, () => {
    assert.deepEqual(occurrencesIn(weekly([1, 2, 3, 4, 5, 6, 7], '02:00', minutes, 'UTC'), { from: 0, to: 1e9 }), [])
  })
}
