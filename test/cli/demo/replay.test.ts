import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOfBatch } from '../../../src/cli/demo/replay.ts'
import { OUTDOOR } from '../../../src/cli/demo/world.ts'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'

const AT = 20 * DAY
const history = (...published: readonly number[]) => ({
  releases: published.map((minutes) => ({ site: OUTDOOR, at: AT + minutes * MINUTE })),
  to: AT + DAY,
})

test('runs of an hour are made together', () => assert.equal(endOfBatch(AT, history(-5, 90)), AT + HOUR))

test('what runs after a version was published is not asked as of before', () =>
  assert.equal(endOfBatch(AT, history(-5, 0, 7, 20)), AT + 7 * MINUTE))

test('what runs after a person did something is run after it', () =>
  assert.equal(endOfBatch(AT, history(7), AT + 3 * MINUTE), AT + 3 * MINUTE))

test('nothing runs after the end of the history', () =>
  assert.equal(endOfBatch(AT + DAY - MINUTE, history()), AT + DAY))
