import type { CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { ColumnTypes } from './migrations/types.ts'
import type { Tables } from './tables.ts'

/** One part of a batch. */
export type BatchOperation =
  | {
      kind: 'statement'
      query: CompiledQuery
      /** If another number of rows changes, the whole batch rolls back with a `StoreError` of kind `unexpected_changes`. */
      expectChanges?: number
    }
  | {
      kind: 'upsert'
      spec: UpsertSpec
      /** Rows one after the other, each in the order of `columnsOf(spec)`; a key may occur more than once. */
      values: readonly SqlValue[]
    }

export interface BatchOptions {
  /** A request waits for it. The whole batch gets the time of one commit, after which it is `unavailable`. */
  isUrgent?: boolean
  /**
   * It need not be on disk when it resolves: a power failure may undo it until a later commit is on disk. For work that is then
   * done again, as nothing that was committed after it remains either.
   */
  isRepeatable?: boolean
}

/**
 * The only access to the database, the same on every engine.
 *
 * Statements in one transaction of `read` or `reports` see one snapshot. Reads never hold up writes.
 */
export interface Store {
  /** For people: logs, `/metrics`, the settings page. Code checks capabilities instead. */
  readonly engine: 'sqlite' | 'postgres'
  readonly columnTypes: ColumnTypes
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  readonly write: Kysely<Tables>
  /** Sees everything committed before. */
  readonly read: Kysely<Tables>
  /** For reports that the service itself makes (overview, probes, digests); may be a replica that lags behind. */
  readonly reports: Kysely<Tables>
  /** For reports that people wait for, on separate connections: however slow, they hold up nothing else. May lag too. */
  readonly interactive: Kysely<Tables>
  /** For migrations and tools: statements have no time limit. */
  readonly admin: Kysely<Tables>
  /** Notifies all parts of the program of changes by management. */
  readonly changes: ChangeFeed
  /** The database's own time, epoch ms; absent where only this process uses it. */
  readonly now?: () => Promise<number>
  /** The same, inside a statement. */
  readonly nowInSql?: RawBuilder<number>
  /** Makes `changes` also report other processes' changes, within a second. Needs a migrated database. */
  followChanges(): Promise<void>
  /**
   * Runs all operations in one transaction, in one trip to the engine; ingest commits and folds with it. Resolves when the
   * transaction is on disk, unless it is repeatable.
   *
   * @throws StoreError: nothing of the batch was kept. With `unavailable` it may have been kept as a whole, or still will be: a
   * database that lost the connection may commit later
   */
  batch(operations: readonly BatchOperation[], options?: BatchOptions): Promise<void>
  close(): Promise<void>
}

/**
 * `busy`: a lock was not available, or two transactions conflicted; the same may work later. `unavailable`: the database cannot
 * be reached; pending work may or may not have been done.
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

/** A change by management of something that others keep in memory; `all` when any of it may have changed, as by a restore. */
export type Change = { kind: 'client'; id: string } | { kind: 'site'; id: string } | { kind: 'all'; id: '*' }

export type ChangeListener = (change: Change) => Promise<void> | void

/**
 * Notifies listeners of changes by management. `publish` resolves when every listener in this process has applied the change, so
 * the next ingest request never contradicts an answer sent after it. A listener that cannot apply it tries again on its own: the
 * change is committed, and the caller must not take it for failed.
 */
export class ChangeFeed {
  readonly #listeners = new Set<ChangeListener>()
  readonly #announce: (change: Change) => void
  readonly #isCurrent: () => boolean

  /**
   * @param announce notifies the other processes on the same database, within a second
   * @param isCurrent whether other processes' changes are being received
   */
  constructor(announce: (change: Change) => void = () => undefined, isCurrent = () => true) {
    this.#announce = announce
    this.#isCurrent = isCurrent
  }

  /** False while changes of other processes may be missing, as when the database cannot be reached. */
  get isCurrent(): boolean {
    return this.#isCurrent()
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async publish(change: Change): Promise<void> {
    this.#announce(change)
    await this.deliver(change).catch(() => undefined)
  }

  /** Notifies only this process's listeners. @throws the first error of a listener, after notifying all */
  async deliver(change: Change): Promise<void> {
    const results = await Promise.allSettled([...this.#listeners].map(async (listener) => listener(change)))
    for (const outcome of results) if (outcome.status === 'rejected') throw outcome.reason
  }
}

/** A value passed to the engine. */
export type SqlValue = string | number | null

type ColumnOf<T extends keyof Tables> = keyof Tables[T] & string

/**
 * A bulk write that adds to existing rows with the same `keys`: `sums` are added up, `maxima` keep the larger value, `fixed`
 * keeps the first row's value. Without sums and maxima an existing row stays as it is, but an engine with several writers must
 * still lock it until the transaction ends: dirty buckets of the roll-up rely on it.
 */
export interface UpsertSpec {
  table: keyof Tables
  keys: readonly string[]
  sums: readonly string[]
  maxima: readonly string[]
  fixed: readonly string[]
  /** An existing row with the same keys fails the batch (`unique`), instead of being added to. */
  isNew?: boolean
}

/** An `UpsertSpec` whose column names are checked against the table. */
export function upsertInto<T extends keyof Tables>(
  table: T,
  columns: {
    keys: readonly ColumnOf<T>[]
    sums?: readonly ColumnOf<T>[]
    maxima?: readonly ColumnOf<T>[]
    fixed?: readonly ColumnOf<T>[]
    isNew?: boolean
  },
): UpsertSpec {
  const { keys, sums = [], maxima = [], fixed = [], isNew = false } = columns
  return { table, keys, sums, maxima, fixed, isNew }
}

/** The order of the values in a row. */
export const columnsOf = (spec: UpsertSpec): string[] => [...spec.keys, ...spec.sums, ...spec.maxima, ...spec.fixed]
