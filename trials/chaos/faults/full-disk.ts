import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isReady } from '../../../testkit/processes/server-process.ts'
import { until } from '../../../testkit/until.ts'
import type { Fault } from '../fault.ts'
import { SmallDisk, smallDiskMissing } from '../small-disk.ts'
import { openSqliteScene } from '../sqlite-scene.ts'

const DURATION = { least: 500, most: 3_000 } as const

/** The log of the moment still has room that it had before; what it needs beyond it is refused. */
export const fullDisk: Fault = {
  name: 'full-disk',
  engine: 'SQLite',
  rounds: 12,
  description: 'the disk is full for a while; in a third of the rounds, `kill -9` and a start on the full disk',
  missing: smallDiskMissing,
  async prepare(workshop) {
    const disk = new SmallDisk(workshop)
    const dataDir = join(disk.folder, 'data')
    mkdirSync(dataDir)
    const scene = await openSqliteScene(workshop, dataDir)
    return {
      scene,
      async strike(random) {
        disk.fill()
        await sleep(random.between(DURATION.least, DURATION.most))
        if (!random.chance(1 / 3)) {
          disk.makeRoom()
          return performance.now()
        }
        await scene.program.kill()
        // It may come up or refuse to: either way nothing may be lost by it.
        scene.program.launch()
        await Promise.race([scene.program.ended(), sleep(random.between(DURATION.least, DURATION.most))])
        disk.makeRoom()
        const freedAt = performance.now()
        // One that met the full disk may end only now. Then it is started again, as Docker and systemd would.
        const { program } = scene
        await until(
          'the program is ready or has ended',
          async () => !program.isRunning || (await isReady(program.url)) || undefined,
        )
        return program.isRunning ? freedAt : await program.start()
      },
    }
  },
}
