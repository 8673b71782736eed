import { closeSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import type { Random } from '../../../testkit/random.ts'
import type { Fault } from '../fault.ts'
import { databasePath, openSqliteScene } from '../sqlite-scene.ts'
import { endOfWal } from '../wal.ts'

const MOST_BYTES = 20_000

const DAMAGES = ['noise', 'zeros', 'half a frame', 'cut'] as const

/** What a loss of power may leave behind the last commit: pages that were never written in full, or none. */
function damageTail(path: string, random: Random): void {
  const { committedBytes, frameBytes } = endOfWal(path)
  const damage = random.pick(DAMAGES)
  if (damage === 'cut') {
    truncateSync(path, committedBytes)
    return
  }
  const file = openSync(path, 'r+')
  writeSync(file, tail(damage, path, { committedBytes, frameBytes }, random), 0, null, committedBytes)
  closeSync(file)
}

function tail(
  damage: Exclude<(typeof DAMAGES)[number], 'cut'>,
  path: string,
  { committedBytes, frameBytes }: { committedBytes: number; frameBytes: number },
  random: Random,
): Buffer {
  const size = 1 + Math.floor(random.between(0, MOST_BYTES))
  if (damage === 'zeros') return Buffer.alloc(size)
  if (damage === 'noise') return Buffer.from(Array.from({ length: size }, () => Math.floor(random.between(0, 256))))
  // The last frame once more and cut off: its salt is right and its checksum is not.
  const half = Math.floor(frameBytes * random.next())
  return Buffer.from(
    readFileSync(path)
      .subarray(Math.max(0, committedBytes - frameBytes))
      .subarray(0, half),
  )
}

export const logTail: Fault = {
  name: 'log-tail',
  engine: 'SQLite',
  rounds: 12,
  description:
    '`kill -9`, and the write-ahead log ends in noise, zeros or half a frame, or is cut behind the last commit',
  async prepare(workshop) {
    const dataDir = workshop.newFolder()
    const scene = await openSqliteScene(workshop, dataDir)
    return {
      scene,
      async strike(random) {
        await scene.program.kill()
        damageTail(`${databasePath(dataDir)}-wal`, random)
        return await scene.program.start()
      },
    }
  },
}
