import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../testkit/until.ts'
import type { Fault } from '../fault.ts'
import { countRows, openSqliteScene } from '../sqlite-scene.ts'

const LOOK_EVERY_MS = 5
/** A roll-up of the ledger's sites takes some hundred transactions. */
const LATEST_MS = 250

/** Waits until a roll-up is under way, which is when dirty hours get fewer, and kills the program within it. */
export const rollUpKill: Fault = {
  name: 'roll-up-kill',
  engine: 'SQLite',
  rounds: 10,
  description: '`kill -9` while hours are rolled up (compaction)',
  async prepare(workshop) {
    const dataDir = workshop.newFolder()
    const scene = await openSqliteScene(workshop, dataDir)
    let rounds = 0
    let withinRollUp = 0
    return {
      scene,
      async strike(random) {
        let most = 0
        await until('a roll-up is under way', async () => {
          const dirty = countRows(dataDir, 'dirty_buckets')
          most = Math.max(most, dirty)
          if (dirty < most) return true
          await sleep(LOOK_EVERY_MS)
          return undefined
        })
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        rounds++
        if (countRows(dataDir, 'dirty_buckets') > 0) withinRollUp++
        return await scene.program.start()
      },
      note: () => `in ${withinRollUp} of ${rounds} rounds dirty hours were left to do when the program died`,
    }
  },
}
