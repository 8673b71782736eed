import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { columnsOf, type SqlValue, StoreError, type UpsertSpec } from '../store.ts'
import {
  NOTHING_PACKED,
  type PackedAnswer,
  type ThreadBatchOperation,
  type ThreadOptions,
  type ThreadRequest,
} from './protocol.ts'
import { defineSumPacked } from './sum-packed.ts'

/** How long a statement waits for another program's lock on the file, ms. */
const BUSY_TIMEOUT_MS = 1_000
/** Statements kept prepared: well above the number of texts that the program has. */
const PREPARED_STATEMENTS = 500
/**
 * Rows that one upsert statement takes; the rest go one by one. Beginning and ending a statement is a quarter of a counter row's
 * cost: with 8 a row takes 2.5 instead of 3.1 µs on average. 16 and 32 were no better.
 */
const ROWS_PER_UPSERT = 8
/** Page cache per connection, KiB. A commit that splits pages walks through all of the writer's. */
const CACHE_KIB = { writer: 16_384, reader: 8_192, checkpointer: 1_024 }

interface Prepared {
  statement: StatementSync
  /** Whether it returns rows. */
  hasColumns: boolean
}

/** One connection, used inside its thread. Not safe to share: callers take turns by sending messages. */
export class SqliteConnection {
  #db: DatabaseSync
  readonly #options: ThreadOptions
  readonly #lock: DatabaseSync | undefined
  readonly #prepared = new Map<string, Prepared>()
  #isSynced = true

  constructor(options: ThreadOptions) {
    if (options.mode === 'writer') this.#lock = takeLock(options.lockPath)
    this.#options = options
    this.#db = openDatabase(options)
  }

  answer(request: ThreadRequest): PackedAnswer {
    switch (request.kind) {
      case 'query':
        return this.query(request.sql, request.parameters)
      case 'rollback':
        this.rollback()
        return NOTHING_PACKED
      case 'batch':
        this.batch(request.operations, request.isRepeatable)
        return NOTHING_PACKED
      case 'close':
        this.close()
        return NOTHING_PACKED
    }
  }

  query(sql: string, parameters: readonly SqlValue[]): PackedAnswer {
    this.#syncEachCommit(true)
    const { statement, hasColumns } = this.#prepare(sql)
    if (!hasColumns) return { ...NOTHING_PACKED, changes: Number(statement.run(...parameters).changes) }
    const rows = statement.all(...parameters) as unknown as unknown[][]
    // Asked afterwards: SQLite prepares a statement again after a schema change, and `*` may then have more columns.
    return { columns: rows.length === 0 ? [] : statement.columns().map(({ name }) => name), rows, changes: 0 }
  }

  /** Runs the operations in one transaction; any error rolls all of them back. */
  batch(operations: readonly ThreadBatchOperation[], isRepeatable = false): void {
    try {
      this.#syncEachCommit(!isRepeatable)
      this.#db.exec('begin immediate')
      for (const operation of operations) this.#run(operation)
      this.#db.exec('commit')
    } catch (thrown) {
      this.rollback()
      throw thrown
    }
  }

  /** Rolls back, unless SQLite already has, as it does after some errors (a full disk among them). */
  rollback(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec('rollback')
    } catch {
      // No transaction could begin on this connection any more. Closing it rolls back the current one.
      this.replace()
    }
  }

  /** Continues with a new connection and keeps the lock on the folder. */
  replace(): void {
    this.#prepared.clear()
    this.#db.close()
    this.#db = openDatabase(this.#options)
    this.#isSynced = true
  }

  close(): void {
    this.#prepared.clear()
    this.#db.close()
    this.#lock?.close()
  }

  #run(operation: ThreadBatchOperation): void {
    if (operation.kind === 'upsert') {
      this.#upsert(operation.spec, operation.values)
      return
    }
    const { changes } = this.#prepare(operation.sql).statement.run(...operation.parameters)
    if (operation.expectChanges !== undefined && Number(changes) !== operation.expectChanges) {
      throw new StoreError(
        'unexpected_changes',
        `${changes} rows changed where ${operation.expectChanges} were expected: ${operation.sql}`,
      )
    }
  }

  #upsert(spec: UpsertSpec, values: readonly SqlValue[]): void {
    const width = columnsOf(spec).length
    let start = 0
    for (const rows of [ROWS_PER_UPSERT, 1]) {
      const end = values.length - rows * width
      if (start > end) continue
      const { statement } = this.#prepare(upsertSql(spec, rows))
      for (; start <= end; start += rows * width) statement.run(...values.slice(start, start + rows * width))
    }
  }

  /**
   * Whether a commit waits until its frames are on disk. Without that the write-ahead log still loses only its end in a power failure, and
   * the next commit that waits writes out all before it: https://www.sqlite.org/pragma.html#pragma_synchronous
   */
  #syncEachCommit(isSynced: boolean): void {
    const waits = isSynced && this.#options.isRepeatable !== true
    if (this.#isSynced === waits || this.#db.isTransaction) return
    this.#db.exec(`pragma synchronous = ${waits ? 'full' : 'normal'}`)
    this.#isSynced = waits
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    if (this.#prepared.size >= PREPARED_STATEMENTS) {
      const oldest = this.#prepared.keys().next()
      if (oldest.done !== true) this.#prepared.delete(oldest.value)
    }
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    const prepared = { statement, hasColumns: statement.columns().length > 0 }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

function openDatabase({ path, mode }: ThreadOptions): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: mode === 'reader', timeout: BUSY_TIMEOUT_MS })
  db.exec(`pragma cache_size = -${CACHE_KIB[mode]}`)
  defineSumPacked(db)
  if (mode === 'reader') return db
  // FULL: a commit returns only after its WAL frames are on disk. Otherwise an acknowledged count could be lost.
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  // The checkpointer moves WAL pages into the database: within a commit that would delay answers.
  db.exec('pragma wal_autocheckpoint = 0')
  return db
}

/**
 * Takes the lock that means "this process owns the data": SQLite's own file lock on an empty database, because the operating
 * system releases it however the process dies.
 *
 * @throws Error of kind `busy` when another process has it
 */
export function takeLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (thrown) {
    lock.close()
    throw thrown
  }
}

const textByColumns = new Map<string, string>()

/** The text of the statement that writes this many rows of `spec`. */
function upsertSql(spec: UpsertSpec, rows: number): string {
  const columns = columnsOf(spec)
  const key = `${rows} ${spec.table} ${columns.join()}`
  const known = textByColumns.get(key)
  if (known !== undefined) return known
  const updates = [
    ...spec.sums.map((column) => `${column} = ${column} + excluded.${column}`),
    ...spec.maxima.map((column) => `${column} = max(${column}, excluded.${column})`),
  ]
  const action = updates.length === 0 ? 'do nothing' : `do update set ${updates.join(', ')}`
  const row = `(${columns.map(() => '?').join(', ')})`
  const conflict = spec.isNew === true ? '' : ` on conflict (${spec.keys.join(', ')}) ${action}`
  const text = `insert into ${spec.table} (${columns.join(', ')}) values ${Array<string>(rows).fill(row).join(', ')}${conflict}`
  textByColumns.set(key, text)
  return text
}
