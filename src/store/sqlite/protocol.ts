import { type SqlValue, StoreError, type StoreErrorKind, type UpsertSpec } from '../store.ts'

/** The data that a connection thread starts with. */
export interface ThreadOptions {
  path: string
  mode: 'writer' | 'reader' | 'checkpointer'
  /** Whether the thread lowers its priority below the process's; for readers. */
  givesWay?: boolean
  /** Whether no commit waits for the disk, because what a power failure takes is written again. */
  isRepeatable?: boolean
  /** The file whose lock keeps a second process away from the data; the writer holds it. */
  lockPath: string
}

export type ThreadBatchOperation =
  | { kind: 'statement'; sql: string; parameters: readonly SqlValue[]; expectChanges?: number }
  | { kind: 'upsert'; spec: UpsertSpec; values: readonly SqlValue[] }

export type ThreadRequest =
  | { kind: 'query'; sql: string; parameters: readonly SqlValue[] }
  | { kind: 'rollback' }
  | { kind: 'batch'; operations: readonly ThreadBatchOperation[]; isRepeatable?: boolean }
  | { kind: 'close' }

/** `rest` asks for the next rows of the answer with this id, which came in parts. */
export interface ThreadMessage {
  id: number
  request: ThreadRequest | 'rest'
}

export interface QueryAnswer {
  rows: Record<string, unknown>[]
  changes: number
}

/** The answer to a request that returns nothing. */
export const NO_ANSWER: QueryAnswer = { rows: [], changes: 0 }

/**
 * An answer on its way between threads. Row objects would repeat the column names in every row: writing, sending and reading them
 * made a report take half as long again.
 */
export interface PackedAnswer {
  columns: readonly string[]
  /** Values in the order of the columns. */
  rows: readonly (readonly unknown[])[]
  changes: number
  /** Whether there are more rows: ask for the `rest`. */
  isPart?: true
}

export const NOTHING_PACKED: PackedAnswer = { columns: [], rows: [], changes: 0 }

export function unpack({ columns, rows, changes }: PackedAnswer): QueryAnswer {
  const unpacked = rows.map((values) => {
    const row: Record<string, unknown> = {}
    columns.forEach((column, at) => {
      row[column] = values[at]
    })
    return row
  })
  return { rows: unpacked, changes }
}

/** Access to one database connection, which handles one request after the other. */
export interface Connection {
  /** Whether it would open only with its first request. */
  readonly isUnopened?: boolean
  request: (request: ThreadRequest) => Promise<QueryAnswer>
  close: () => Promise<void>
}

export type ThreadResponse =
  | { id: number; ok: true; answer?: PackedAnswer }
  | { id: number; ok: false; errorKind: StoreErrorKind; message: string }

// SQLite's extended result codes: https://www.sqlite.org/rescode.html
const KIND_BY_CODE: ReadonlyMap<number, StoreErrorKind> = new Map([
  [2067, 'unique'], // SQLITE_CONSTRAINT_UNIQUE
  [1555, 'unique'], // SQLITE_CONSTRAINT_PRIMARYKEY
  [787, 'foreign_key'], // SQLITE_CONSTRAINT_FOREIGNKEY
  [5, 'busy'], // SQLITE_BUSY
  [6, 'busy'], // SQLITE_LOCKED
  [13, 'full'], // SQLITE_FULL
])

/** The kind of an error of `node:sqlite`. */
export function errorKindOf(thrown: unknown): StoreErrorKind {
  if (thrown instanceof StoreError) return thrown.kind
  if (thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number') {
    return KIND_BY_CODE.get(thrown.errcode) ?? KIND_BY_CODE.get(thrown.errcode & 0xff) ?? 'other'
  }
  return 'other'
}
