import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthySite } from '../detection/healthy.ts'
import { simulate } from '../detection/history.ts'
import { Random } from '../detection/random.ts'
import { falseAlarms, foundByCanary, foundByVolume } from '../detection/site-death.ts'
import { FIRST_JUDGED, RUN_EVERY, SLOTS_AN_HOUR } from '../detection/world.ts'

/** In the night of a Monday, when least comes. */
const DIES_AT = FIRST_JUDGED + 2 * SLOTS_AN_HOUR

test('of a site that dies at night the canary says so within two runs, and counts only hours later', async () => {
  const history = simulate({ ...healthySite('shop', 1), daily: 500 }, [], new Random(1), 'volume')
  for (const wait of [1, RUN_EVERY]) {
    const moment = { diesAt: DIES_AT, firstRun: DIES_AT + wait }
    const unanswered = await foundByCanary('no answer', moment)
    const lost = await foundByCanary('answered, and lost', moment)
    assert.ok(unanswered > wait && unanswered < wait + 1, `${unanswered}`)
    assert.ok(lost > wait + RUN_EVERY && lost < wait + RUN_EVERY + 1, `${lost}`)
    const byVolume = foundByVolume(history, moment)
    assert.ok(byVolume !== null && byVolume > 2 * SLOTS_AN_HOUR, `${byVolume}`)
  }
})

test('of a site with a few visits a day counts never say that it is dead', () => {
  const history = simulate({ ...healthySite('shop', 1), daily: 5 }, [], new Random(1), 'volume')
  assert.equal(foundByVolume(history, { diesAt: DIES_AT, firstRun: DIES_AT + 1 }), null)
})

test('the canary is wrong only when two in a row are lost', async () => {
  const losing = (lost: readonly number[]) => {
    let run = 0
    return () => lost.includes(++run)
  }
  assert.equal(await falseAlarms(20, losing([3, 5, 7, 20])), 0)
  assert.equal(await falseAlarms(20, losing([3, 4, 10, 11, 12])), 2)
})
