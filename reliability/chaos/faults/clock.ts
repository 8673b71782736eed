import { setTimeout as sleep } from 'node:timers/promises'
import { DAY, HOUR, SECOND } from '../../../src/lib/index.ts'
import type { Fault } from '../fault.ts'
import { shimMissing } from '../shim.ts'
import { openShimmedScene } from '../sqlite-scene.ts'

const JUMPS = [HOUR, -HOUR, DAY, -DAY, 90 * SECOND, -90 * SECOND] as const

/** The clock jumps under load, stays there for a moment, and jumps back. */
export const clock: Fault = {
  name: 'clock',
  engine: 'SQLite',
  rounds: 12,
  description: 'the clock jumps by 90 s, an hour or a day, forth or back, and returns',
  missing: shimMissing,
  async prepare(workshop) {
    const { scene, shim } = await openShimmedScene(workshop)
    return {
      scene,
      async strike(random) {
        shim.order({ clockMs: random.pick(JUMPS) })
        // Some folds happen by that clock.
        await sleep(random.between(1_200, 2_500))
        await scene.ledger.untilAcknowledged(10)
        shim.order({})
        return performance.now()
      },
    }
  },
}
