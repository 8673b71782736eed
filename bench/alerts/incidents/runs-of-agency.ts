import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Run } from './data-runs.ts'
import type { SitesTask } from './site-worker.ts'

const WORKERS = 2

/**
 * What the data probes of each site of an agency find. That takes nearly all of the benchmark's time, and does not depend on how alerts
 * become incidents: so it may be kept.
 *
 * @param folder where it is kept, and taken from; null: it is not
 */
export async function runsOfAgency(seed: number, count: number, folder: string | null): Promise<Run[][]> {
  const path = folder === null ? null : join(folder, `runs-${seed}-${count}`)
  if (path !== null && existsSync(path)) return deserialize(readFileSync(path)) as Run[][]
  const runs = Array.from({ length: count }, (): Run[] => [])
  let done = 0
  const shares = Array.from({ length: WORKERS }, (_, worker) =>
    Array.from(runs.keys()).filter((place) => place % WORKERS === worker),
  )
  await Promise.all(
    shares.map(async (places) => {
      const workerData: SitesTask = { seed, count, places }
      const worker = new Worker(new URL('site-worker.ts', import.meta.url), { workerData })
      worker.on('message', ({ place, runs: found }: { place: number; runs: Run[] }) => {
        runs[place] = found
        done++
        process.stderr.write(`  seed ${seed}: ${done} of ${count} sites\n`)
      })
      await once(worker, 'exit')
    }),
  )
  if (path !== null && folder !== null) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, serialize(runs))
  }
  return runs
}
