export { Delta, EVENT, TAG } from './delta.ts'
export { Folder, isFoldConflict } from './fold.ts'
export type { Submission } from './group.ts'
export type { GroupCommit } from './group-commit.ts'
export { IDEMPOTENCY_KEY_MAX } from './idempotency.ts'
export { FOLD_INTERVAL_MS, Journal, journalMetrics } from './journal.ts'
export {
  appendPayload,
  BATCH_KEYS_MAX,
  BatchPayload,
  Counter,
  type EncodedEntry,
  EventPayload,
  encodeEntry,
  eventsIn,
  isBatch,
  NAME_MAX,
  type Payload,
  TAGS_MAX,
  type TagExecution,
  TagMetric,
} from './payload.ts'
export { readFoldTask } from './read.ts'
export { addLog, appendDelta, type Log, latencyBucket } from './row.ts'
export { foldJournal, foldOrphans, type JournalFolder, OrphanFolding } from './streams.ts'
