import { setTimeout as sleep } from 'node:timers/promises'
import { DAY, HOUR, MINUTE, nextMonthStart, SECOND } from '../../../src/lib/index.ts'
import type { Fault } from '../fault.ts'
import { shimMissing } from '../shim.ts'
import { openShimmedScene } from '../sqlite-scene.ts'

const JUMPS = [HOUR, -HOUR, DAY, -DAY, 90 * SECOND, -90 * SECOND] as const

/** Just over the end of the month that is, or of the one before. */
function overMonthEnd(): number[] {
  const now = Date.now()
  const date = new Date(now)
  const monthStart = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  return [nextMonthStart(now) + MINUTE - now, monthStart - MINUTE - now]
}

/** The clock jumps under load, stays there for a moment, and jumps back, while requests with a key are repeated. */
export const clock: Fault = {
  name: 'clock',
  engine: 'SQLite',
  rounds: 12,
  description:
    'the clock jumps by 90 s, an hour, a day or over the end of a month, forth or back, and returns; keyed requests repeat',
  missing: shimMissing,
  async prepare(workshop) {
    const { scene, shim } = await openShimmedScene(workshop)
    return {
      scene,
      async strike(random) {
        shim.order({ clockMs: random.pick([...JUMPS, ...overMonthEnd()]) })
        // Some folds happen by that clock.
        await sleep(random.between(1_200, 2_500))
        await scene.ledger.untilAcknowledged(10)
        shim.order({})
        return performance.now()
      },
    }
  },
}
