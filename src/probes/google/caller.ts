import type { Outbound } from '../../lib/index.ts'

/** What a run asks with. */
export interface Caller {
  outbound: Outbound
  /** Aborted when the run's time is over. */
  signal: AbortSignal
  timeoutMs: number
  /** When the run started, epoch ms. */
  now: number
}
