import type { Outcome } from '../../lib/table.ts'
import type { Bench } from '../rounds.ts'

/** Starts the servers it needs, loads them and says what came out. The caller stops the servers. */
export type Scenario = (bench: Bench) => Promise<Outcome>
