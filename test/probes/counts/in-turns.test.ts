import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurns } from '../../../src/probes/counts/judge-presence.ts'

test('what is learnt of many kinds is learnt in order, with others in between', async () => {
  const order: string[] = []
  let isOver = false
  const other = (): void => {
    if (isOver) return
    order.push('other')
    setImmediate(other)
  }
  setImmediate(other)
  const learnt = await inTurns(
    Array.from({ length: 20 }, (_, kind) => [`event ${kind}`, kind] as const),
    (kind) => {
      order.push('kind')
      return 2 * kind
    },
  )
  isOver = true
  assert.deepEqual([learnt.size, learnt.get('event 7')], [20, 14])
  // Never two of them in one turn of the event loop.
  for (const [at, what] of order.entries()) assert.ok(what === 'other' || order[at + 1] !== 'kind', `${order}`)
})
