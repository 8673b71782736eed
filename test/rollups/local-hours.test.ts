import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hourSplit } from '../../src/rollups/index.ts'

const MINUTE = 60_000
const cases: [zone: string, hour: string, minutes: number][] = [
  ['UTC', '2026-11-20T10:00:00Z', 0],
  ['Europe/Berlin', '2026-11-20T10:00:00Z', 0],
  ['America/New_York', '2026-07-20T10:00:00Z', 0],
  ['Asia/Kolkata', '2026-11-20T10:00:00Z', 30],
  ['Asia/Kathmandu', '2026-11-20T10:00:00Z', 15],
  ['America/St_Johns', '2026-11-20T10:00:00Z', 30],
  ['Pacific/Marquesas', '2026-11-20T10:00:00Z', 30],
  ['Australia/Lord_Howe', '2026-07-20T10:00:00Z', 30],
  ['Australia/Lord_Howe', '2026-12-20T10:00:00Z', 0],
]
for (const [zone, hour, minutes] of cases) {
  test(`local hours of ${zone} begin ${minutes} minutes into the UTC hour ${hour}`, () => {
    assert.equal(hourSplit(zone, Date.parse(hour)), minutes * MINUTE)
  })
}
