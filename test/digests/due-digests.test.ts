import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duePeriod } from '../../src/digests/digests.ts'
import type { DigestKind } from '../../src/digests/write-digest.ts'

/** Times without seconds, UTC. */
const CASES: [
  title: string,
  kind: DigestKind,
  timezone: string,
  now: string,
  expected: [before: string, from: string, to: string, dueAt: string],
][] = [
  [
    'yesterday',
    'daily',
    'Europe/Berlin',
    '2026-11-20T10:00',
    ['2026-11-17T23:00', '2026-11-18T23:00', '2026-11-19T23:00', '2026-11-20T06:00'],
  ],
  [
    'yesterday, at seven',
    'daily',
    'Europe/Berlin',
    '2026-11-20T06:00',
    ['2026-11-17T23:00', '2026-11-18T23:00', '2026-11-19T23:00', '2026-11-20T06:00'],
  ],
  [
    'the day before yesterday, a minute before seven',
    'daily',
    'Europe/Berlin',
    '2026-11-20T05:59',
    ['2026-11-16T23:00', '2026-11-17T23:00', '2026-11-18T23:00', '2026-11-19T06:00'],
  ],
  [
    'the day of 23 hours',
    'daily',
    'Europe/Berlin',
    '2027-03-29T05:00',
    ['2027-03-26T23:00', '2027-03-27T23:00', '2027-03-28T22:00', '2027-03-29T05:00'],
  ],
  [
    'the day of 25 hours',
    'daily',
    'America/New_York',
    '2026-11-02T12:00',
    ['2026-10-31T04:00', '2026-11-01T04:00', '2026-11-02T05:00', '2026-11-02T12:00'],
  ],
  [
    'a day that begins at half past',
    'daily',
    'Asia/Kolkata',
    '2026-11-20T01:30',
    ['2026-11-17T18:30', '2026-11-18T18:30', '2026-11-19T18:30', '2026-11-20T01:30'],
  ],
  [
    'the day of 23 and a half hours',
    'daily',
    'Australia/Lord_Howe',
    '2026-10-04T20:00',
    ['2026-10-02T13:30', '2026-10-03T13:30', '2026-10-04T13:00', '2026-10-04T20:00'],
  ],
  [
    'the last day before one that was left out',
    'daily',
    'Pacific/Apia',
    '2011-12-30T17:00',
    ['2011-12-28T10:00', '2011-12-29T10:00', '2011-12-30T10:00', '2011-12-30T17:00'],
  ],
  [
    'the first day after one that was left out, measured against the last before it',
    'daily',
    'Pacific/Apia',
    '2011-12-31T17:00',
    ['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00', '2011-12-31T17:00'],
  ],
  [
    'last week',
    'weekly',
    'Europe/Berlin',
    '2026-11-20T10:00',
    ['2026-11-01T23:00', '2026-11-08T23:00', '2026-11-15T23:00', '2026-11-16T06:00'],
  ],
  [
    'last week, on a Sunday night',
    'weekly',
    'Europe/Berlin',
    '2026-11-22T22:59',
    ['2026-11-01T23:00', '2026-11-08T23:00', '2026-11-15T23:00', '2026-11-16T06:00'],
  ],
  [
    'the week before last, on Monday before seven',
    'weekly',
    'Europe/Berlin',
    '2026-11-16T05:59',
    ['2026-10-25T23:00', '2026-11-01T23:00', '2026-11-08T23:00', '2026-11-09T06:00'],
  ],
  [
    'the week in which the clocks are put back',
    'weekly',
    'Europe/Berlin',
    '2026-10-26T06:00',
    ['2026-10-11T22:00', '2026-10-18T22:00', '2026-10-25T23:00', '2026-10-26T06:00'],
  ],
]

for (const [title, kind, timezone, now, expected] of CASES) {
  test(`the ${kind} digest of ${timezone} at ${now} is about ${title}`, () => {
    const { before, from, to, dueAt } = duePeriod(kind, timezone, Date.parse(`${now}Z`))
    assert.deepEqual(
      [before.from, from, to, dueAt].map((time) => new Date(time).toISOString().slice(0, 16)),
      expected,
    )
    assert.equal(before.to, from)
  })
}
