import { setTimeout as sleep } from 'node:timers/promises'
import { grouped } from '../../../bench/lib/table.ts'
import type { Random } from '../../../testkit/random.ts'
import { until } from '../../../testkit/until.ts'
import { LANES_WAITING } from '../crowd.ts'
import type { Fault, Workshop } from '../fault.ts'
import { forgetNode, newPlace, openPostgresScene } from '../postgres-scene.ts'
import type { Scene } from '../scene.ts'
import { lanesWaiting, openSqliteScene } from '../sqlite-scene.ts'

/** Enough for several lanes of a thousand sites. */
const CROWD = 4_000
/** A lane waits for up to 15 s: a kill falls anywhere in that. */
const LATEST_MS = 5_000

interface Place {
  scene: Scene
  lanes: () => Promise<number>
  /** What comes between the end of the program and its next start. */
  ended: () => Promise<void>
}

/** Lanes wait when the program dies, with requests that were acknowledged long before, and are folded by the next one. */
const busyKillFault = (
  fields: Pick<Fault, 'name' | 'engine' | 'rounds'>,
  open: (workshop: Workshop) => Promise<Place>,
): Fault => ({
  ...fields,
  description: `\`kill -9\` of a node with ${grouped(CROWD)} sites, while lanes of its journal wait`,
  async prepare(workshop) {
    const { scene, lanes, ended } = await open(workshop)
    const left: number[] = []
    return {
      scene,
      async strike(random: Random) {
        // Only more than a thousand requests a second make lanes: a busy machine reaches that in a quiet moment.
        await until('rows of several lanes wait', async () => ((await lanes()) > 1 ? true : undefined))
        await sleep(random.between(0, LATEST_MS))
        await scene.program.kill()
        left.push(await lanes())
        await ended()
        return await scene.program.start()
      },
      note: () => `rows of ${left.join(', ')} lanes were left`,
    }
  },
})

export const busyKill = busyKillFault({ name: 'busy-kill', engine: 'SQLite', rounds: 8 }, async (workshop) => {
  const dataDir = workshop.newFolder()
  const scene = await openSqliteScene(workshop, dataDir, { crowd: CROWD })
  return { scene, lanes: async () => lanesWaiting(dataDir), ended: async () => undefined }
})

export const postgresBusyKill = busyKillFault(
  { name: 'pg-busy-kill', engine: 'PostgreSQL', rounds: 4 },
  async (workshop) => {
    const place = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place, { crowd: CROWD })
    return {
      scene,
      lanes: async () => Number((await place.ask<{ value: string }>(LANES_WAITING))[0]?.value),
      ended: () => forgetNode(place),
    }
  },
)
