import { SECOND } from '../../lib/index.ts'

/** How long things may take, ms. */
export interface Limits {
  /** Making a connection. Short, because ingest has to answer 500 quickly while the database is unavailable. */
  connect: number
  /** An urgent batch: a commit of ingest, whose requests wait. A longer one counts as failed, with unknown outcome. */
  commit: number
  /** Any other write, and management's statements. */
  statement: number
  /** A report's statement, and its wait for a connection while all are in use. */
  report: number
  /** A statement of a report that someone is waiting for. */
  interactive: number
  /** How long the driver waits after the server should have ended a statement, before it drops the connection. */
  silence: number
  /** After this long without an answer, another connection asks the server whether it still works on the statement. */
  suspicion: number
  /** Until another process's change is noticed without a notification, as behind PgBouncer. */
  poll: number
  /** After this long without reading others' changes, an unknown key may be one that another process has made. */
  current: number
  /** Until notifications are requested again after their connection broke. */
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
  current: 2 * SECOND,
  reconnect: 2 * SECOND,
}
