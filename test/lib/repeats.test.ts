import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Repeats } from '../../src/lib/index.ts'
import { newClock } from '../../testkit/clock.ts'

test('what comes again and again passes once a minute and says how often it came, and something new passes at once', () => {
  const clock = newClock()
  const repeats = new Repeats(clock)
  assert.equal(repeats.passes('fold: refused'), 0)
  for (let seconds = 1; seconds < 60; seconds++) {
    clock.advance(1_000)
    assert.equal(repeats.passes('fold: refused'), null)
  }
  assert.equal(repeats.passes('fold: starting up'), 0)
  assert.equal(repeats.passes('probes: refused'), 0)
  clock.advance(1_000)
  assert.equal(repeats.passes('fold: refused'), 59)
  assert.equal(repeats.passes('fold: refused'), null)
})

test('however many different things come, few are kept', () => {
  const repeats = new Repeats(newClock())
  for (let each = 0; each < 1_001; each++) assert.equal(repeats.passes(`${each}`), 0)
  assert.equal(repeats.passes('0'), 0)
  assert.equal(repeats.passes('1000'), null)
})
