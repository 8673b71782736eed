import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUDGET_BYTES, BUDGET_BYTES_FOR_SMALL, BUDGET_BYTES_PER_CLIENT, ByteBudget } from '../../src/ingest/body.ts'

const MB = 1_048_576

/** Takes a megabyte at a time until the budget is exhausted; returns how many it took and whose budget that was. */
function fill(budget: ByteBudget, clientId: string, isSmall = false) {
  for (let taken = 0; ; taken++) {
    const exhausted = budget.take(clientId, MB, isSmall)
    if (exhausted !== undefined) return { taken, exhausted }
  }
}

test('one client gets no more than its part of the budget, and can use again what it releases', () => {
  const budget = new ByteBudget()
  const taken = BUDGET_BYTES_PER_CLIENT / MB
  assert.deepEqual(fill(budget, 'a'), { taken, exhausted: 'client' })
  assert.equal(budget.take('b', MB, false), undefined)
  budget.release('a', 3 * MB)
  assert.deepEqual(fill(budget, 'a'), { taken: 3, exhausted: 'client' })
})

test('all clients together cannot exceed the budget, and small bodies still have an allowance', () => {
  const budget = new ByteBudget()
  const clients = BUDGET_BYTES / BUDGET_BYTES_PER_CLIENT
  for (let i = 0; i < clients; i++) fill(budget, `client ${i}`)
  assert.deepEqual(fill(budget, 'late'), { taken: 0, exhausted: 'all' })
  assert.deepEqual(fill(budget, 'small', true), { taken: BUDGET_BYTES_FOR_SMALL / MB, exhausted: 'client' })
  assert.deepEqual(fill(budget, 'another small', true), { taken: 0, exhausted: 'all' })
})

test('an answered request leaves no bytes in the budget', () => {
  const budget = new ByteBudget()
  budget.take('a', 10, true)
  budget.take('a', 20, true)
  budget.release('a', 30)
  assert.equal(budget.bytes, 0)
})
