import type { Fault } from '../fault.ts'
import { DIES_AT, shimMissing } from '../shim.ts'
import { openShimmedScene } from '../sqlite-scene.ts'

/** Writes until the program dies, at most. A commit writes several pages to the log; a checkpoint writes to the database. */
const WRITES = { log: 300, database: 20 } as const
const WRITE_BYTES = 4_096

/** Dies in the middle of a write, of which the disk keeps a part: within a group commit, a fold or a checkpoint. */
export const tornWrite: Fault = {
  name: 'torn-write',
  engine: 'SQLite',
  rounds: 25,
  description: '`kill -9` within a write of a commit, a fold or a checkpoint, which the disk keeps a part of',
  missing: shimMissing,
  async prepare(workshop) {
    const { scene, shim } = await openShimmedScene(workshop)
    return {
      scene,
      async strike(random) {
        const file = random.pick<keyof typeof WRITES>(['log', 'log', 'database'])
        shim.order({
          diesAt: DIES_AT[file],
          writesLeft: 1 + Math.floor(random.between(0, WRITES[file])),
          tornBytes: random.pick([0, Math.floor(random.between(1, WRITE_BYTES)), WRITE_BYTES]),
        })
        await scene.program.ended()
        shim.order({})
        return await scene.program.start()
      },
    }
  },
}
