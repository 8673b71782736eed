import { parentPort, workerData } from 'node:worker_threads'
import { siteOutcome, type Watching, type World } from './site.ts'

/** What the worker is started with. It sends back the outcome of one site after the other. */
export interface SeedTask extends Watching {
  world: World
  seed: number
  sites: number
  /** No site is begun later, epoch ms. */
  until: number
}

const { world, seed, sites, until, ...watching } = workerData as SeedTask
for (let index = 0; index < sites && Date.now() < until; index++) {
  parentPort?.postMessage(siteOutcome(world, seed, index, watching))
}
