import { parentPort, workerData } from 'node:worker_threads'
import { dataRunsOf } from './data-runs.ts'

/** What the worker is started with. It sends back the runs of one site after the other. */
export interface SitesTask {
  seed: number
  count: number
  places: readonly number[]
}

const { seed, count, places } = workerData as SitesTask
for (const place of places) parentPort?.postMessage({ place, runs: dataRunsOf(seed, count, place) })
