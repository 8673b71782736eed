export { CONSENT_COLUMNS, IDENTIFIER_COLUMNS, VALIDITY_COLUMNS } from '../rollups/index.ts'
export { appendPayload, type EncodedEntry, encodeEntry } from './append-payload.ts'
export {
  CONSENT_FIELDS,
  CONSENT_PURPOSES,
  excessiveConsent,
  excessiveTagConsent,
} from './consent.ts'
export { CLIENTS_MAX } from './container.ts'
export { countedUntil } from './counted-until.ts'
export { Delta, EVENT, SIGNAL, TAG, TAG_SIGNAL } from './delta.ts'
export { Counter, excessiveField, knownFieldCounts, OWN_FIELDS_MAX } from './fields.ts'
export { Folder, isFoldConflict } from './fold.ts'
export { Freshness } from './freshness.ts'
export type { Submission } from './group.ts'
export type { GroupCommit } from './group-commit.ts'
export { IDEMPOTENCY_KEY_MAX } from './idempotency.ts'
export { FOLD_INTERVAL_MS, Journal, journalMetrics } from './journal.ts'
export type { JournalFolder } from './journal-folder.ts'
export {
  BATCH_KEYS_MAX,
  BatchPayload,
  EventPayload,
  eventsIn,
  isBatch,
  NAME_MAX,
  type Payload,
  TAGS_MAX,
  type TagExecution,
  TagMetric,
} from './payload.ts'
export { readFoldTask } from './read.ts'
export { RepeatedEvents } from './repeated-events.ts'
export { addLog, appendDelta, type Log, latencyBucket } from './row.ts'
export {
  excessiveResponses,
  excessiveValidity,
  IDENTIFIER_FLAGS,
} from './signals.ts'
export { foldJournal, foldOrphans, OrphanFolding } from './streams.ts'
