import type { CompiledQuery, Kysely } from 'kysely'
import type { ChangeFeed } from './changes.ts'
import type { ColumnTypes } from './migrations/index.ts'
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
      /** Rows one after the other, each in the order of `columnsOf(spec)`; sorted by key. */
      values: readonly SqlValue[]
    }

/**
 * The one door to the database, the same on every engine.
 *
 * `write` and `read` are two Kysely instances: reports go through `read` and never hold up a write. Statements of one
 * `read.transaction()` see one snapshot.
 */
export interface Store {
  /** For people: logs, `/metrics`, the settings page. Code asks for capabilities, not for the name. */
  readonly engine: 'sqlite' | 'postgres'
  readonly columnTypes: ColumnTypes
  readonly write: Kysely<Tables>
  readonly read: Kysely<Tables>
  /** Tells every part of the program what management changed. */
  readonly changes: ChangeFeed
  /**
   * Runs all operations in one durable transaction, in one trip to the engine: what ingest commits and folds with.
   * Returns nothing; resolves when the transaction is on disk.
   *
   * @throws StoreError, and then nothing of the batch was kept.
   */
  batch(operations: readonly BatchOperation[]): Promise<void>
  close(): Promise<void>
}

export type StoreErrorKind = 'unique' | 'foreign_key' | 'busy' | 'full' | 'unexpected_changes' | 'closed' | 'other'

/** A failure of the engine, named by what the caller can do about it. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind

  constructor(kind: StoreErrorKind, message: string) {
    super(message)
    this.name = 'StoreError'
    this.kind = kind
  }
}
