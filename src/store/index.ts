export type { Kysely, Transaction } from 'kysely'
export { type CopyOptions, copyToPostgres, type RowsCopied } from './copy/copy.ts'
export { hasUnfinishedCopy } from './copy/progress.ts'
export type { Tally } from './copy/tables.ts'
export { type MigrationState, migrate, migrationState, WAITING_FOR_TABLES, WAITING_TO_MIGRATE } from './migrate.ts'
export { keepPrivate, openStore, type StoreLocation } from './open.ts'
export { type PackedRow, PackedSums, packRow, packRows } from './packed.ts'
export { distributeTables, requireCitus } from './postgres/citus.ts'
export { openPostgresStore } from './postgres/open.ts'
export { SHARED_SESSIONS, sharesSessions } from './postgres/shared-sessions.ts'
export { attemptEach, chunksOf, countOf, lockText, totalOf, unindexed, untilDone } from './sql.ts'
export { type BackupOptions, backUpSqlite, type CopiedDatabase } from './sqlite/backup.ts'
export { type DatabaseContents, integrityErrors, withDatabaseFile } from './sqlite/contents.ts'
export { type CopyWatch, exists } from './sqlite/files.ts'
export { connectWithoutThread } from './sqlite/local-connection.ts'
export { openSqliteStore, type SqliteOptions, sqlitePath } from './sqlite/open.ts'
export { type RestoredDatabase, type RestoreOptions, restoreSqlite } from './sqlite/restore.ts'
export {
  type BatchOperation,
  type BatchOptions,
  type Change,
  ChangeFeed,
  type ChangeListener,
  columnsOf,
  isPassing,
  type SqlValue,
  type Store,
  StoreError,
  type StoreErrorKind,
  type UpsertSpec,
  upsertInto,
} from './store.ts'
export * from './tables.ts'
export { isOnPostgres, packedLength, summed, unpacked } from './unpacked.ts'
