import { parentPort, workerData } from 'node:worker_threads'
import { siteOutcome, type World } from './site.ts'

/** What the worker is started with. It sends back the outcome of one site after the other. */
export interface SeedTask {
  world: World
  seed: number
  sites: number
}

const { world, seed, sites } = workerData as SeedTask
for (let index = 0; index < sites; index++) parentPort?.postMessage(siteOutcome(world, seed, index))
