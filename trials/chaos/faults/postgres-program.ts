import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { type Habit, HOSTILE } from '../habit.ts'
import { forgetNode, newPlace, openPostgresScene } from '../postgres-scene.ts'

const LATEST_MS = 1_000

/**
 * Others take a node for dead when it has sent no heartbeat for half a minute. The round does not wait for that, but for the
 * dead node's sessions to finish their statements.
 */
const killFault = (fields: Pick<Fault, 'name' | 'rounds' | 'description'>, others?: readonly Habit[]): Fault => ({
  ...fields,
  engine: 'PostgreSQL',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place, { others })
    return {
      scene,
      async strike(random) {
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        await forgetNode(place)
        return await scene.program.start()
      },
    }
  },
})

export const postgresKill = killFault({
  name: 'pg-kill',
  rounds: 12,
  description: '`kill -9` of the program at a random moment',
})

export const postgresHostileKill = killFault(
  {
    name: 'pg-hostile-kill',
    rounds: 6,
    description: '`kill -9` while one valid sender sends as many containers, ids, names and tags as it can',
  },
  [HOSTILE],
)
