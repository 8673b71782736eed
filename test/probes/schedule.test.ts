import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, newId, SECOND } from '../../src/lib/index.ts'
import { firstRunAt, nextRunAt } from '../../src/probes/claims.ts'
import { NOW } from '../../testkit/clock.ts'

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
