import { exclusively, type Leases, type Membership } from '../cluster/index.ts'
import { type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { foldOrphans } from './orphans.ts'
import { Pace } from './pace.ts'
import { removeDeletedSites } from './removal.ts'
import { applyRetention, type Retention } from './retention.ts'
import { MARKS_PER_ROUND, rollUp } from './roll-up.ts'
import { Setbacks } from './setbacks.ts'

const ROLL_UP_INTERVAL_MS = 10 * SECOND
const RETENTION_INTERVAL_MS = 30 * MINUTE
const REMOVAL_INTERVAL_MS = 5 * SECOND
/** What a node that died left is in the reports within 10 s: 5 until its rows are old enough, and the next round of this. */
const ORPHANS_INTERVAL_MS = 3 * SECOND

export interface MaintenanceOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  retention: Retention
  onError: (error: Error, loop: string) => void
}

/**
 * The loops that keep the rollups in shape: compaction, retention, the rest of deleted sites, and what dead nodes left in
 * the journal. All but the last run on one node at a time, and do no harm if for a moment two do it: a roll-up takes its mark
 * and a fold its journal rows in the transaction that needs them, and a row can be deleted but once. The last runs on every
 * node: were it one node's, its death would leave it to nobody for half a minute.
 */
export class Maintenance {
  readonly loops: readonly Loop[]
  #isStopping = false

  constructor({ store, clock, membership, leases, retention, onError }: MaintenanceOptions) {
    const pace = new Pace()
    const setbacks = new Setbacks()
    const loop = (name: string, intervalMs: number, work: (mayGoOn: () => boolean) => Promise<unknown>) => {
      const tick = exclusively(leases, name, async (isOurs) => {
        await work(() => !this.#isStopping && isOurs())
      })
      return new Loop({ name, clock, intervalMs, tick, onError })
    }
    this.loops = [
      loop('roll-up', ROLL_UP_INTERVAL_MS, async (mayGoOn) => {
        // At once again while there is more than one round takes.
        for (let derived = MARKS_PER_ROUND; derived >= MARKS_PER_ROUND && mayGoOn(); ) {
          derived = await rollUp(store, clock.now(), { setbacks, mayGoOn })
        }
      }),
      loop('retention', RETENTION_INTERVAL_MS, (mayGoOn) => applyRetention(store, retention, clock.now(), mayGoOn)),
      loop('removal', REMOVAL_INTERVAL_MS, (mayGoOn) => removeDeletedSites(store, clock.now(), mayGoOn)),
      new Loop({
        name: 'orphans',
        clock,
        intervalMs: ORPHANS_INTERVAL_MS,
        tick: async () => void (await foldOrphans(store, await membership.living(), { pace })),
        onError,
      }),
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
