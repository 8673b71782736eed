import assert from 'node:assert/strict'
import { test } from 'node:test'
import { burstsNow } from '../../src/detection/bursts-now.ts'
import { HOUR } from '../../src/lib/index.ts'
import { Random } from '../../testkit/random.ts'
import { type Rates, SLOT, volumeInput } from './support.ts'

/** Visits of two to six events each, so many an hour, drawn for each five minutes. */
const visits =
  (perHour: number): Rates =>
  (time) => {
    const random = new Random(Math.imul(1 + time / SLOT, 0x9e3779b1))
    let scroll = 0
    for (let chance = 0; chance < 20; chance++) {
      if (random.next() < (perHour * SLOT) / HOUR / 20) scroll += 2 + random.below(5)
    }
    return { scroll }
  }

test('events of visits do not come one by one because no hour of the past was empty', () => {
  const { recent, usual } = volumeInput({ usual: visits(15) })
  const oneByOne = { ...usual.of('scroll').noise, group: 1 }
  const { group } = burstsNow('scroll', recent, usual, oneByOne)
  assert.ok(group > 1.8, `${group}`)
})

test('where fewer come than a visit in five minutes, hours say how many come together', () => {
  const { recent, usual } = volumeInput({ usual: visits(2) })
  const { noise } = usual.of('scroll')
  assert.equal(burstsNow('scroll', recent, usual, noise).group, noise.group)
})
