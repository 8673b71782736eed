import { StoreError, type StoreErrorKind } from '../store.ts'

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
