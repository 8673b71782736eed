import type { CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { ChangeFeed } from './changes.ts'
import type { ColumnTypes } from './migrations/types.ts'
import type { Tables } from './tables.ts'
import type { SqlValue, UpsertSpec } from './upsert.ts'

/** One part of a batch. */
export type BatchOperation =
  | {
      kind: 'statement'
      query: CompiledQuery
      /** Another number of changed rows rolls the whole batch back with a `StoreError` of kind `unexpected_changes`. */
      expectChanges?: number
    }
  | {
      kind: 'upsert'
      spec: UpsertSpec
      /** Rows one after the other, each in the order of `columnsOf(spec)`; a key may occur more than once. */
      values: readonly SqlValue[]
    }

export interface BatchOptions {
  /** A request waits for it: the whole batch has the time of one commit, after which it is `unavailable`. */
  isUrgent?: boolean
}

/**
 * The only access to the database, the same on every engine.
 *
 * Statements of one transaction of `read` or `reports` see one snapshot. Reads never hold up a write.
 */
export interface Store {
  /** For people: logs, `/metrics`, the settings page. Code asks for capabilities, not for the name. */
  readonly engine: 'sqlite' | 'postgres'
  readonly columnTypes: ColumnTypes
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  readonly write: Kysely<Tables>
  /** Sees everything that was committed before. */
  readonly read: Kysely<Tables>
  /** For reports that the service itself makes (overview, probes, digests): may be a replica that lags behind. */
  readonly reports: Kysely<Tables>
  /** For reports that people ask for, by connections of their own: however slow, they hold up nothing else. May lag, too. */
  readonly asked: Kysely<Tables>
  /** For migrations and tools: no statement is cut off for taking long. */
  readonly admin: Kysely<Tables>
  /** Notifies every part of the program of changes by management. */
  readonly changes: ChangeFeed
  /** The database's own time, epoch ms; absent where only this process uses it. */
  readonly now?: () => Promise<number>
  /** The same inside a statement. */
  readonly nowInSql?: RawBuilder<number>
  /** From now on `changes` also reports changes by other processes, within a second. Needs a migrated database. */
  followChanges(): Promise<void>
  /**
   * Runs all operations in one durable transaction, in one trip to the engine: what ingest commits and folds with.
   * Returns nothing; resolves when the transaction is on disk.
   *
   * @throws StoreError, and then nothing of the batch was kept; with `unavailable` it may have been kept as a whole, or is
   * kept later: a database that lost the connection may still commit.
   */
  batch(operations: readonly BatchOperation[], options?: BatchOptions): Promise<void>
  close(): Promise<void>
}

/**
 * `busy`: a lock was not available, or two transactions conflicted: the same may work later. `unavailable`: the database cannot
 * be reached; what was under way may or may not have been done.
 */
export type StoreErrorKind =
  | 'unique'
  | 'foreign_key'
  | 'busy'
  | 'full'
  | 'unexpected_changes'
  | 'closed'
  | 'unavailable'
  | 'other'

/** A failure of the engine, named by what the caller can do about it. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind

  constructor(kind: StoreErrorKind, message: string) {
    super(message)
    this.name = 'StoreError'
    this.kind = kind
  }
}

/** Whether it is a temporary failure of the store: the same may work later. */
export const isPassing = (thrown: unknown): boolean =>
  thrown instanceof StoreError && ['busy', 'full', 'closed', 'unavailable'].includes(thrown.kind)
