import { SECOND } from '../../lib/index.ts'

/** How long things may take, ms. */
export interface Limits {
  /** Making a connection. Short: ingest has to answer 500 fast while the database is unavailable. */
  connect: number
  /** An urgent batch: ingest's commit, whose requests wait. A longer one counts as failed, its outcome is unknown. */
  commit: number
  /** Any other statement that writes, and those of management. */
  statement: number
  /** A statement of a report, and its wait for a connection while all are in use. */
  report: number
  /** A statement of a report that a user requested. */
  interactive: number
  /** How long the driver waits beyond a statement's limit, at which the server ends it, before it drops the connection. */
  silence: number
  /** Without an answer for so long, the server is asked on another connection whether it still works on a statement. */
  suspicion: number
  /** Until a change by another process is noticed, even where no notification arrives (as behind PgBouncer). */
  poll: number
  /** Until notifications are asked for again after their connection broke. */
  reconnect: number
}

export const LIMITS: Limits = {
  connect: 2 * SECOND,
  commit: 5 * SECOND,
  statement: 30 * SECOND,
  report: 30 * SECOND,
  interactive: 10 * SECOND,
  silence: 5 * SECOND,
  suspicion: 3 * SECOND,
  poll: SECOND / 2,
  reconnect: 2 * SECOND,
}
