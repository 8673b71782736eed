import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { isSettled, LearntCache, learningPeriod } from '../../../src/probes/counts/learnt-cache.ts'
import { NOW } from '../../../testkit/clock.ts'

const PERIOD = { from: NOW, to: NOW + HOUR }

test('what was learnt is known from the beginning of its period to its end, and to no earlier time', () => {
  const cache = new LearntCache<string>(100)
  cache.set('site', NOW + MINUTE, PERIOD, 'learnt')
  const known = [NOW - 1, NOW, NOW + HOUR - 1, NOW + HOUR].map((time) => cache.get('site', time))
  assert.deepEqual(known, [null, 'learnt', 'learnt', null])
  assert.equal(cache.get('another site', NOW), null)
})

test('a full cache keeps what it has, so that of too many sites some find theirs, and takes more when that is over', () => {
  const cache = new LearntCache<number>(100)
  for (let site = 0; site < 60; site++) cache.set(`${site}`, NOW, PERIOD, site, 2)
  assert.deepEqual([cache.get('0', NOW), cache.get('49', NOW), cache.get('50', NOW)], [0, 49, null])
  cache.set('50', NOW + HOUR, { from: NOW + HOUR, to: NOW + 2 * HOUR }, 50, 2)
  assert.equal(cache.get('50', NOW + HOUR), 50)
})

test('no site takes the room of all others', () => {
  const cache = new LearntCache<string>(100)
  cache.set('a site with hundreds of names', NOW, PERIOD, 'learnt', 7)
  cache.set('another', NOW, PERIOD, 'learnt', 6)
  assert.deepEqual([cache.get('a site with hundreds of names', NOW), cache.get('another', NOW)], [null, 'learnt'])
})

test('what is learnt again takes the place of what was known', () => {
  const cache = new LearntCache<number>(100)
  for (let value = 0; value <= 60; value++) cache.set('a', NOW, PERIOD, value, 2)
  assert.equal(cache.get('a', NOW), 60)
  cache.set('b', NOW, PERIOD, 4, 2)
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
