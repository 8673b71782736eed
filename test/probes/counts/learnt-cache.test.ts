import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { isSettled, LearntCache, learningPeriod } from '../../../src/probes/counts/learnt-cache.ts'
import { NOW } from '../../../testkit/clock.ts'

const PERIOD = { from: NOW, to: NOW + HOUR }

test('what was learnt is known from the beginning of its period to its end, and to no earlier time', () => {
  const cache = new LearntCache<string>(10)
  cache.set('site', NOW + MINUTE, PERIOD, 'learnt')
  const known = [NOW - 1, NOW, NOW + HOUR - 1, NOW + HOUR].map((time) => cache.get('site', time))
  assert.deepEqual(known, [null, 'learnt', 'learnt', null])
  assert.equal(cache.get('another site', NOW), null)
})

test('a full cache keeps what it has, so that of too many sites some find theirs, and takes more when that is over', () => {
  const cache = new LearntCache<number>(10)
  cache.set('a', NOW, PERIOD, 1, 6)
  cache.set('b', NOW, PERIOD, 2, 6)
  assert.deepEqual([cache.get('a', NOW), cache.get('b', NOW)], [1, null])
  cache.set('b', NOW + HOUR, { from: NOW + HOUR, to: NOW + 2 * HOUR }, 2, 6)
  assert.equal(cache.get('b', NOW + HOUR), 2)
})

test('what is learnt again takes the place of what was known', () => {
  const cache = new LearntCache<number>(10)
  for (const value of [1, 2, 3]) cache.set('a', NOW, PERIOD, value, 6)
  assert.equal(cache.get('a', NOW), 3)
  cache.set('b', NOW, PERIOD, 4, 4)
  assert.equal(cache.get('b', NOW), 4)
})

test('a site learns by the hour in its first days, then every three hours, and sites at different times', () => {
  assert.deepEqual([isSettled(3.9), isSettled(4)], [false, true])
  for (let siteNo = 1; siteNo < 50; siteNo++) {
    for (const settled of [false, true]) {
      const { from, to } = learningPeriod(siteNo, NOW, settled)
      assert.ok(from <= NOW && NOW < to)
      assert.equal(to - from, settled ? 3 * HOUR : HOUR)
      assert.deepEqual(learningPeriod(siteNo, to - 1, settled), { from, to })
      assert.equal(learningPeriod(siteNo, to, settled).from, to)
    }
  }
  const beginnings = new Set(Array.from({ length: 24 }, (_, siteNo) => learningPeriod(siteNo, NOW, true).from))
  assert.equal(beginnings.size, 24)
})
