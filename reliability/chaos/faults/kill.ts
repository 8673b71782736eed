import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { openSqliteScene } from '../sqlite-scene.ts'

const LATEST_MS = 1_500

/** At any moment: within a commit, a fold, a checkpoint, or between them. */
export const kill: Fault = {
  name: 'kill',
  engine: 'SQLite',
  rounds: 25,
  description: '`kill -9` at a random moment under load',
  async prepare(workshop) {
    const scene = await openSqliteScene(workshop, workshop.newFolder())
    return {
      scene,
      async strike(random) {
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        return await scene.program.start()
      },
    }
  },
}
