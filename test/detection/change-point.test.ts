import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedAt } from '../../src/detection/change-point.ts'

const SLOT = 300_000
const PASSING = 0.05

/** The stretch, counted from the newest (1), at which a share rose; each is `[count, of]`, the newest last. */
function roseBefore(judged: number, ...shares: readonly (readonly [count: number, of: number])[]): number {
  const stretches = shares.map(([count, of], index) => ({ from: index * SLOT, count, of }))
  const window = stretches.slice(-judged)
  const now = {
    count: window.reduce((sum, { count }) => sum + count, 0),
    of: window.reduce((sum, { of }) => sum + of, 0),
  }
  return shares.length - changedAt(stretches, now, () => PASSING) / SLOT
}

const times = (times: number, count: number, of: number) => Array.from({ length: times }, () => [count, of] as const)

test('a share rose where it did, and not where its few happened to be worst', () => {
  const rare = [
    [2, 3],
    [1, 3],
    [3, 3],
    [2, 3],
    [1, 3],
    [2, 3],
    [3, 3],
    [3, 3],
  ] as const
  assert.equal(roseBefore(8, ...times(200, 0, 3), ...rare), 8)
})

test('an earlier fault that was mended is not part of this one', () => {
  assert.equal(roseBefore(3, ...times(60, 90, 100), ...times(6, 1, 100), ...times(4, 60, 100)), 4)
  assert.equal(roseBefore(6, ...times(60, 3, 3), ...times(3, 0, 3), ...times(6, 2, 3)), 6)
})

test('a fault that ended a moment ago began before that', () => {
  assert.equal(roseBefore(4, ...times(60, 0, 100), ...times(2, 60, 100), ...times(2, 0, 100)), 4)
})

test('a few that are well within a fault do not split it', () => {
  assert.equal(roseBefore(6, ...times(100, 0, 3), ...times(6, 2, 3), [0, 3], ...times(5, 2, 3)), 12)
})

test('what was always so began with the first that is known', () => {
  assert.equal(roseBefore(3, ...times(288, 40, 100)), 288)
})

test('one of a few before a fault is not its beginning', () => {
  assert.equal(roseBefore(3, ...times(20, 0, 100), [1, 100], ...times(9, 0, 100), ...times(3, 60, 100)), 3)
})
