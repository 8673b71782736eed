import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../test/support/api.ts'
import type { Fault } from '../fault.ts'
import { countRows, openSqliteScene } from '../sqlite-scene.ts'

const LOOK_EVERY_MS = 5
/** A roll-up of the ledger's sites takes some hundred transactions. */
const LATEST_MS = 250

/** Waits until a roll-up is under way, which is when hours marked as out of date get fewer, and kills the program within it. */
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
          const marks = countRows(dataDir, 'rollup_marks')
          most = Math.max(most, marks)
          if (marks < most) return true
          await sleep(LOOK_EVERY_MS)
          return undefined
        })
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        rounds++
        if (countRows(dataDir, 'rollup_marks') > 0) withinRollUp++
        return await scene.program.start()
      },
      note: () => `in ${withinRollUp} of ${rounds} rounds marked hours were left to do when the program died`,
    }
  },
}
