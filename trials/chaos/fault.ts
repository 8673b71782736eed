import type { Closers } from '../../src/lib/index.ts'
import type { PostgresServer } from '../../testkit/postgres/server.ts'
import type { Random } from '../../testkit/random.ts'
import type { Balance } from './ledger.ts'
import type { Scene } from './scene.ts'

/** What a fault may use to set itself up. */
export interface Workshop {
  /** A new folder on a disk, so that commits wait for it. */
  newFolder: () => string
  /** One server for all faults, with few connections, that makes what it commits durable. */
  postgres: () => Promise<PostgresServer>
  /** What is added is closed after the fault's last round. */
  closers: Closers
}

/** A fault that has been set up: the service runs, and `strike` can be called round after round. */
export interface Stage {
  scene: Scene
  /**
   * Does the fault to the service under load, and undoes it. Returns when it was undone (as of `performance.now()`): from
   * then on the service is expected to recover automatically. If the fault ended the program, that is when it was started.
   */
  strike: (random: Random) => Promise<number>
  /** Something to say about all rounds together, for the table's notes. */
  note?: (rounds: readonly Balance[]) => string
}

export interface Fault {
  /** For `--only`. */
  name: string
  engine: 'SQLite' | 'PostgreSQL'
  /** How many rounds it has by default. */
  rounds: number
  description: string
  /** What is missing on this machine, or undefined when it can be done. */
  missing?: () => string | undefined
  prepare: (workshop: Workshop) => Promise<Stage>
}
