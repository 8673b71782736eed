import { type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { removeDeletedSites } from './removal.ts'
import { applyRetention, type Retention } from './retention.ts'
import { rollUp } from './roll-up.ts'

const ROLL_UP_INTERVAL_MS = 10 * SECOND
const RETENTION_INTERVAL_MS = 30 * MINUTE
const REMOVAL_INTERVAL_MS = 5 * SECOND

export interface MaintenanceOptions {
  store: Store
  clock: Clock
  retention: Retention
  onError: (error: Error, loop: string) => void
}

/** The loops that keep the rollups in shape: compaction, retention, and the rest of deleted sites. */
export class Maintenance {
  readonly loops: readonly Loop[]
  #isStopping = false

  constructor({ store, clock, retention, onError }: MaintenanceOptions) {
    const mayGoOn = () => !this.#isStopping
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    this.loops = [
      loop('roll-up', ROLL_UP_INTERVAL_MS, async () => {
        await rollUp(store, clock.now())
      }),
      loop('retention', RETENTION_INTERVAL_MS, () => applyRetention(store, retention, clock.now(), mayGoOn)),
      loop('removal', REMOVAL_INTERVAL_MS, () => removeDeletedSites(store, clock.now(), mayGoOn)),
    ]
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Waits for the step under way, not for the whole round. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }
}
