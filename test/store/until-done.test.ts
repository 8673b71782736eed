import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untilDone } from '../../src/store/sql.ts'

test('between the steps of a long removal others get their turn', async () => {
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  const before: boolean[] = []
  await untilDone(
    async () => before.push(hadTurn) < 3,
    () => true,
  )
  assert.equal(before[2], true)
})
