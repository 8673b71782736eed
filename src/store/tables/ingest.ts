/** Accepted counts that are durable but not yet in the rollups: one row per group commit. */
export interface JournalTable {
  /** The process that wrote the row and will fold it while it lives. */
  node_id: string
  /** Counted up by that process, one a commit; a commit that failed leaves a gap. */
  seq: number
  written_at: number
  /** An encoded `Delta`. */
  payload: string
}

/** How far a node's fold that is cut into chunks has come. */
export interface FoldTable {
  node_id: string
  last_seq: number
  /** The highest `site_no` whose share of the rows up to `last_seq` is in the rollups. */
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
