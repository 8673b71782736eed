import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../testkit/random.ts'
import type { Fault } from '../fault.ts'
import { ERRORS, type Orders, shimMissing } from '../shim.ts'
import { openShimmedScene } from '../sqlite-scene.ts'

const DURATION = { least: 300, most: 2_500 } as const

interface FailingDisk extends Pick<Fault, 'name' | 'rounds' | 'description'> {
  orders: Orders
  /** Whether the program that is killed in half of the rounds is started while the disk still fails. */
  hasStart: boolean
}

/** A disk that fails for a while, by what its calls answer. In half of the rounds the program is killed before it ends. */
function failingDisk({ orders, hasStart, ...fields }: FailingDisk): Fault {
  return {
    ...fields,
    engine: 'SQLite',
    missing: shimMissing,
    async prepare(workshop) {
      const { scene, shim } = await openShimmedScene(workshop)
      const { program } = scene
      const strike = async (random: Random): Promise<number> => {
        shim.order(orders)
        await sleep(random.between(DURATION.least, DURATION.most))
        if (random.chance(0.5)) {
          shim.order({})
          return performance.now()
        }
        await program.kill()
        if (hasStart) {
          program.launch()
          // It cannot do its work, and says so by ending.
          if ((await program.ended()) !== 1) throw new Error(`a start on a failing disk:\n${program.state()}`)
        }
        shim.order({})
        return await program.start()
      }
      return { scene, strike }
    },
  }
}

/** What a commit that failed has left in the log is read by the next start. */
export const failingSync = failingDisk({
  name: 'failing-fsync',
  rounds: 12,
  description: 'every fsync fails (EIO); in half of the rounds, then `kill -9`',
  orders: { syncError: ERRORS.io },
  hasStart: false,
})

export const readOnlyDisk = failingDisk({
  name: 'read-only',
  rounds: 10,
  description:
    'the disk turns read-only (EROFS); in half of the rounds, then `kill -9` and a start on it, which is refused',
  orders: { writeError: ERRORS.readOnly },
  hasStart: true,
})
