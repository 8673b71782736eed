import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount, isInTurn } from '../../testkit/length.ts'
import { AlarmLog } from '../detection/alarms.ts'
import { healthySite, KINDS } from '../detection/healthy.ts'
import { simulate } from '../detection/history.ts'
import { Random } from '../detection/random.ts'
import { replay } from '../detection/replay.ts'
import { replaySampled } from '../detection/sampled.ts'
import { RUN_EVERY, SLOTS } from '../detection/world.ts'

/** Of the runs that the service makes, one in five hours and five minutes on every change, which goes through all times of a day; at night all. */
const EVERY = amount(61, 1) * RUN_EVERY
/** Events of a site's batches: one is what sends them one by one. On a change a kind of site has one of them, and the kinds take turns; at night all. */
const BATCHES = [1, 50]
/** … in batches of either length, and sampled. */
const WAYS = BATCHES.length + 1
const isTried = (kind: number, way: number) => amount(kind % WAYS, way) === way && isInTurn(kind, WAYS)

for (const [way, batch] of BATCHES.entries()) {
  for (const [index, kind] of KINDS.entries()) {
    if (!isTried(index, way)) continue
    const site = healthySite(kind, batch)
    test(`a new site with nothing wrong raises no alarm in eight weeks: ${site.name}`, () => {
      const log = new AlarmLog()
      replay(simulate(site, [], new Random(5_000 + index)), log, 0, EVERY)
      const alarms = log.finish(SLOTS)
      const lines = alarms.map(({ probe, severity, subject, message }) => `${severity} ${probe} ${subject}: ${message}`)
      assert.deepEqual(
        lines.filter((line) => line.startsWith('critical')),
        [],
      )
      assert.ok(alarms.length <= 1, lines.join('\n'))
    })
  }
}

for (const [index, kind] of KINDS.entries()) {
  if (!isTried(index, WAYS - 1)) continue
  test(`a new site with nothing wrong, of which one event in two is sent, raises no alarm in eight weeks: ${kind}`, () => {
    const log = new AlarmLog()
    replaySampled(healthySite(kind, 1), 2, new Random(5_000 + index), log, EVERY)
    const lines = log.finish(SLOTS).map(({ severity, message }) => `${severity} ${message}`)
    assert.ok(lines.length <= 1, lines.join('\n'))
  })
}
