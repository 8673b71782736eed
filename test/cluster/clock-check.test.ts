import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockTrouble } from '../../src/cluster/clock-check.ts'
import { SECOND } from '../../src/lib/index.ts'
import { TestClock } from '../support/clock.ts'

/** Asks a database whose clock is `ahead` ms ahead, and takes `way` ms to each side. */
async function troubleOf(ahead: number, way = 0): Promise<string | undefined> {
  const clock = new TestClock('2026-11-20T10:00:00Z')
  const trouble = await clockTrouble(clock, () => {
    clock.advance(way)
    const theirs = clock.now() + ahead
    clock.advance(way)
    return Promise.resolve(theirs)
  })
  return trouble?.message
}

test('clocks may differ by five seconds', async () => {
  assert.equal(await troubleOf(0), undefined)
  assert.equal(await troubleOf(5 * SECOND), undefined)
  assert.equal(await troubleOf(-5 * SECOND), undefined)
  assert.match((await troubleOf(5 * SECOND + 1)) ?? '', /5 s behind/)
  assert.match((await troubleOf(-5 * SECOND - 1)) ?? '', /5 s ahead of/)
})

test('a slow answer is not taken for a wrong clock, and does not hide one', async () => {
  assert.equal(await troubleOf(0, 20 * SECOND), undefined)
  assert.match((await troubleOf(60 * SECOND, 20 * SECOND)) ?? '', /40 s behind/)
  assert.match((await troubleOf(-60 * SECOND, 20 * SECOND)) ?? '', /40 s ahead of/)
})
