import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { duration, number, percent } from '../../src/lib/words.ts'

const WORDS: readonly [is: string, says: string][] = [
  [number(1_234.5), '1,235'],
  [number(2.345), '2.3'],
  [number(7), '7'],
  [percent(0.0512), '5.1 %'],
  [percent(0.5), '50 %'],
  [duration(5 * MINUTE), '5 min'],
  [duration(119 * MINUTE), '119 min'],
  [duration(2 * HOUR), '2 h'],
  [duration(130 * MINUTE), '2 h 10 min'],
  [duration(3 * DAY), '3 days'],
]
for (const [is, says] of WORDS) test(`${says} is written so`, () => assert.equal(is, says))
