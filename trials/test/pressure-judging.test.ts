import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHeld, type PressureRow, pressureText } from '../fuzz/pressure/measure.ts'

const HELD: PressureRow = {
  engine: 'sqlite',
  name: 'an attack',
  connections: 1,
  cut: 1,
  load: {
    requestsPerSecond: 500,
    p50Ms: 4,
    p99Ms: 40,
    maxMs: 90,
    statuses: { 200: 7_500 },
    answers: 7_500,
    accepted: 7_500,
    unanswered: 0,
    generatorLoad: 0.1,
  },
  peakMb: 450,
  targetP99Ms: 100,
  fault: null,
}

test('an attack is held when healthy senders are served in time and the service stays below 1,000 MB', () => {
  assert.equal(isHeld(HELD), true)
  assert.equal(isHeld({ ...HELD, peakMb: 1_000 }), true)
})

for (const [what, row] of [
  ['the service takes as much memory as it did for unread metrics', { ...HELD, peakMb: 1_500 }],
  ['the service takes more than 1,000 MB', { ...HELD, peakMb: 1_001 }],
  ['the memory could not be measured', { ...HELD, peakMb: 0 }],
  ['healthy senders wait for too long', { ...HELD, load: { ...HELD.load, p99Ms: 101 } }],
  ['a healthy sender is not answered', { ...HELD, load: { ...HELD.load, unanswered: 1 } }],
  ['a healthy sender is refused', { ...HELD, load: { ...HELD.load, accepted: 7_499 } }],
  ['no healthy sender could ask', { ...HELD, load: { ...HELD.load, answers: 0, accepted: 0, p99Ms: 0 } }],
  ['the attack is taken wrongly', { ...HELD, fault: 'no connection was cut' }],
] as const) {
  test(`an attack is not held when ${what}`, () => {
    assert.equal(isHeld(row), false)
    assert.match(pressureText([row]), /no \(p99 ≤ 100 ms, ≤ 1,000 MB, all answered 200\)/)
  })
}
