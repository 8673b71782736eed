import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { type Habit, HOSTILE } from '../habit.ts'
import { openSqliteScene } from '../sqlite-scene.ts'

const LATEST_MS = 1_500

/** At any moment: within a commit, a fold, a checkpoint, or between them. */
const killFault = (fields: Pick<Fault, 'name' | 'rounds' | 'description'>, others?: readonly Habit[]): Fault => ({
  ...fields,
  engine: 'SQLite',
  async prepare(workshop) {
    const scene = await openSqliteScene(workshop, workshop.newFolder(), { others })
    return {
      scene,
      async strike(random) {
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        return await scene.program.start()
      },
    }
  },
})

export const kill = killFault({ name: 'kill', rounds: 25, description: '`kill -9` at a random moment under load' })

export const hostileKill = killFault(
  {
    name: 'hostile-kill',
    rounds: 8,
    description: '`kill -9` while one valid sender sends as many containers, ids, names and tags as it can',
  },
  [HOSTILE],
)
