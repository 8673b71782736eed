import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, newId, SECOND } from '../../src/lib/index.ts'
import { dueAfterRun, firstRunAt, nextRunAt } from '../../src/probes/claims.ts'
import { NOW } from '../../testkit/clock.ts'
import { newProbeRow } from '../../testkit/probes.ts'

test('the next run is later than now and at most one interval away', () => {
  for (let n = 0; n < 200; n++) {
    const next = nextRunAt(newId(), 60, NOW + n)
    assert.ok(next > NOW + n && next <= NOW + n + MINUTE)
  }
})

test('a new probe runs within a minute, and sooner where its interval is shorter', () => {
  for (let n = 0; n < 200; n++) {
    const id = newId()
    for (const [interval, within] of [
      [86_400, 60],
      [60, 60],
      [30, 30],
    ] as const) {
      const first = firstRunAt(id, interval, NOW)
      assert.ok(first > NOW && first <= NOW + within * SECOND)
    }
  }
})

test('runs keep to a grid of the probe, whenever they are asked for', () => {
  const id = newId()
  const first = nextRunAt(id, 300, NOW)
  assert.equal(nextRunAt(id, 300, first - 1), first)
  assert.equal(nextRunAt(id, 300, first), first + 300 * SECOND)
  // Missed runs collapse into one.
  assert.equal(nextRunAt(id, 300, first + 1_000 * 300 * SECOND + 1), first + 1_001 * 300 * SECOND)
})

test('a run by hand shortly before the next one stands for it, and an earlier one does not', () => {
  const id = newId()
  const due = nextRunAt(id, 3_600, NOW)
  const probe = newProbeRow('site', { id, interval_seconds: 3_600, next_run_at: due })
  assert.equal(dueAfterRun(probe, 3_600, due - 10 * SECOND), due + 3_600 * SECOND)
  assert.equal(dueAfterRun(probe, 3_600, due - 179 * SECOND), due + 3_600 * SECOND)
  assert.equal(dueAfterRun(probe, 3_600, due - 181 * SECOND), due)
})

test('a run that was due is followed by the next on the grid, however long it took', () => {
  const id = newId()
  const due = nextRunAt(id, 60, NOW)
  const probe = newProbeRow('site', { id, interval_seconds: 60, due_at: due, next_run_at: due + 60 * SECOND })
  for (const took of [0, 30, 59]) assert.equal(dueAfterRun(probe, 60, due + took * SECOND), due + 60 * SECOND)
  // By a clock that was set back a moment.
  assert.equal(dueAfterRun(probe, 60, due - 1), due + 60 * SECOND)
})

test('probes of one interval are spread evenly over it', () => {
  const perSecond = new Array<number>(60).fill(0)
  for (let n = 0; n < 6_000; n++) {
    const second = Math.floor((nextRunAt(`probe-${n}`, 60, NOW) % MINUTE) / SECOND)
    perSecond[second] = (perSecond[second] ?? 0) + 1
  }
  // 100 a second expected; six standard deviations of chance.
  assert.ok(Math.max(...perSecond) < 160, `${Math.max(...perSecond)}`)
  assert.ok(Math.min(...perSecond) > 40, `${Math.min(...perSecond)}`)
})
