import { type SqlValue, StoreError, type StoreErrorKind, type UpsertSpec } from '../store.ts'

/** What a connection thread is started with. */
export interface ThreadOptions {
  path: string
  mode: 'writer' | 'reader' | 'checkpointer'
  /** True for a reader that has a lower priority than the process. */
  givesWay?: boolean
  /** File whose lock keeps a second process away from the data; held by the writer. */
  lockPath: string
}

export type ThreadBatchOperation =
  | { kind: 'statement'; sql: string; parameters: readonly SqlValue[]; expectChanges?: number }
  | { kind: 'upsert'; spec: UpsertSpec; values: readonly SqlValue[] }

export type ThreadRequest =
  | { kind: 'query'; sql: string; parameters: readonly SqlValue[] }
  | { kind: 'rollback' }
  | { kind: 'batch'; operations: readonly ThreadBatchOperation[] }
  | { kind: 'close' }

/** `rest`: the next rows of the answer with this id, which came in parts. */
export interface ThreadMessage {
  id: number
  request: ThreadRequest | 'rest'
}

export interface QueryAnswer {
  rows: Record<string, unknown>[]
  changes: number
}

/** What is answered where nothing was asked for. */
export const NO_ANSWER: QueryAnswer = { rows: [], changes: 0 }

/**
 * An answer on its way between threads. Rows of objects would name every column in every row: written, sent and read, a report took
 * half as long again.
 */
export interface PackedAnswer {
  columns: readonly string[]
  /** Values in the order of the columns. */
  rows: readonly (readonly unknown[])[]
  changes: number
  /** There are more rows: ask for the `rest`. */
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

/** The way to one database connection, which takes one request after the other. */
export interface Connection {
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

/** What kind of failure an error of `node:sqlite` is. */
export function errorKindOf(thrown: unknown): StoreErrorKind {
  if (thrown instanceof StoreError) return thrown.kind
  if (thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number') {
    return KIND_BY_CODE.get(thrown.errcode) ?? KIND_BY_CODE.get(thrown.errcode & 0xff) ?? 'other'
  }
  return 'other'
}
