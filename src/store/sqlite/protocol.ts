import type { StoreErrorKind } from '../store.ts'
import type { SqlValue, UpsertSpec } from '../upsert.ts'

/** What a connection thread is started with. */
export interface ThreadOptions {
  path: string
  mode: 'writer' | 'reader' | 'checkpointer'
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

export interface QueryAnswer {
  rows: Record<string, unknown>[]
  changes: number
}

/** What is answered where nothing was asked for. */
export const NO_ANSWER: QueryAnswer = { rows: [], changes: 0 }

/** The way to one database connection, which takes one request after the other. */
export interface Connection {
  request: (request: ThreadRequest) => Promise<QueryAnswer>
  close: () => Promise<void>
}

export type ThreadResponse =
  | { id: number; ok: true; answer?: QueryAnswer }
  | { id: number; ok: false; errorKind: StoreErrorKind; message: string }
