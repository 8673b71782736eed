import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { shimMissing } from '../shim.ts'
import { openShimmedScene } from '../sqlite-scene.ts'

/** How much longer each wait for the disk takes, ms. */
const DELAY = { least: 20, most: 1_000 } as const
const DURATION = { least: 500, most: 3_000 } as const

export const slowDisk: Fault = {
  name: 'slow-disk',
  engine: 'SQLite',
  rounds: 10,
  description: 'every fsync takes up to a second',
  missing: shimMissing,
  async prepare(workshop) {
    const { scene, shim } = await openShimmedScene(workshop)
    return {
      scene,
      async strike(random) {
        shim.order({ syncMs: random.logBetween(DELAY.least, DELAY.most) })
        await sleep(random.between(DURATION.least, DURATION.most))
        shim.order({})
        return performance.now()
      },
    }
  },
}
