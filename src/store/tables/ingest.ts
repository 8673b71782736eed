import type { Generated } from 'kysely'

/** Accepted counts that are durable but not yet in the rollups: one row per group commit. */
export interface JournalTable {
  /** The stream: the process that wrote the row and folds it while it lives, or what a fold set aside. */
  node_id: string
  /** Counted up by that process, one a commit; a commit that failed leaves a gap. */
  seq: number
  /** By the database's clock where several processes share it. */
  written_at: number
  /** An encoded `Delta`. */
  payload: string
}

/** How far a node's fold that is cut into chunks has come. */
export interface FoldTable {
  node_id: string
  /** Its rows are all from here to `last_seq`; 0 where a version that did not say so began it. */
  first_seq: Generated<number>
  last_seq: number
  /** The highest `site_no` whose share of the rows is in the rollups, or set aside. */
  site_cursor: number
}

export interface IdempotencyKeyTable {
  site_no: number
  idempotency_key: string
  accepted_at: number
}

export interface RecentPayloadTable {
  site_no: number
  id: number
  accepted_at: number
  payload: string
}

export interface RejectionTable {
  site_no: number
  id: number
  rejected_at: number
  reason: string
  path: string
}

export interface RejectionCountTable {
  site_no: number
  /** Start of the UTC minute, epoch ms. */
  bucket: number
  reason: string
  total: number
}

/** One row, rewritten to learn whether the store takes writes. */
export interface WriteCheckTable {
  id: number
  checked_at: number
}
