import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime, sameHoursBefore } from '../../src/detection/index.ts'
import { HOUR } from '../../src/lib/index.ts'

const at = (text: string) => Date.parse(text)

test('the offset changes at the instant at which clocks do, whatever was asked before', () => {
  const change = at('2026-03-29T01:00:00Z')
  for (const order of [
    [change - 1, change],
    [change, change - 1],
  ]) {
    const clock = localTime('Europe/Berlin')
    for (const time of order) assert.equal(clock.offsetAt(time), (time < change ? 1 : 2) * HOUR)
  }
})

const SAME_HOURS: readonly [timezone: string, hour: string, before: string][] = [
  ['UTC', '2026-03-30T08:00:00Z', '2026-03-23T08:00:00Z'],
  ['Europe/Berlin', '2026-03-30T06:00:00Z', '2026-03-23T07:00:00Z'],
  ['Europe/Berlin', '2026-10-26T07:00:00Z', '2026-10-19T06:00:00Z'],
  ['America/New_York', '2026-11-02T14:00:00Z', '2026-10-26T13:00:00Z'],
  ['Asia/Kolkata', '2026-03-30T08:00:00Z', '2026-03-23T08:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-05T00:00:00Z', '2026-09-28T00:00:00Z'],
]
for (const [timezone, hour, before] of SAME_HOURS) {
  test(`a week before ${hour} it was the same time in ${timezone} at ${before}`, () => {
    assert.deepEqual(sameHoursBefore(localTime(timezone), at(hour), 7, 1), [at(before)])
  })
}

test('there is no clock in a zone that is none', () => assert.throws(() => localTime('Mars/Olympus'), RangeError))
