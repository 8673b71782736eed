import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATUSES, type Status, worstStatus } from '../../src/dashboard/status.ts'

const cases: readonly [parts: readonly Status[], whole: Status][] = [
  [[], 'unknown'],
  [['unknown'], 'unknown'],
  [['ok'], 'ok'],
  [['ok', 'unknown'], 'ok'],
  [['unknown', 'warning', 'ok'], 'warning'],
  [['warning', 'error', 'ok'], 'error'],
  [['error', 'critical', 'warning'], 'critical'],
  [['critical', 'critical'], 'critical'],
]
for (const [parts, whole] of cases) {
  test(`the whole of [${parts.join(', ')}] is ${whole}`, () => assert.equal(worstStatus(parts), whole))
}

test('of any two the one that needs a person first wins, in either order', () => {
  for (const [rank, worse] of STATUSES.entries()) {
    for (const better of STATUSES.slice(rank)) {
      assert.equal(worstStatus([worse, better]), worse)
      assert.equal(worstStatus([better, worse]), worse)
    }
  }
})
