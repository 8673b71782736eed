import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../detection/faults.ts'
import { floorOf } from '../detection/floor.ts'
import { healthySite } from '../detection/healthy.ts'
import { simulate } from '../detection/history.ts'
import { Random } from '../detection/random.ts'
import { FIRST_JUDGED, SLOTS_AN_HOUR } from '../detection/world.ts'

/** At noon, one minute after a run. */
const DIES_AT = FIRST_JUDGED + 12 * SLOTS_AN_HOUR + 1

test('the ideal watcher looks no more often than the probes do, and finds a busy site dead at the next run', () => {
  const fault: Fault = { kind: 'silent_sender', from: DIES_AT, to: DIES_AT + 6 * SLOTS_AN_HOUR, size: 0 }
  const history = simulate({ ...healthySite('shop', 1), daily: 200_000 }, [fault], new Random(1), 'volume')
  for (const every of [5, 15]) assert.equal(floorOf(fault, history, every), every - 1)
})
