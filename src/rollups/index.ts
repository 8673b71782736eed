export * from './columns.ts'
export * from './cover.ts'
export {
  add,
  addAll,
  addUsage,
  type Cell,
  type Counts,
  cellAt,
  Delta,
  EVENT,
  eventIn,
  type SiteDelta,
  TAG,
  tagIn,
} from './delta.ts'
export { type ClientOfSite, Folder, type FoldTask } from './fold.ts'
export { foldJournal, foldOrphans, readFoldTask } from './journal.ts'
export { hourSplit } from './local-hours.ts'
export { Maintenance, type MaintenanceOptions } from './maintenance.ts'
export { NAMES_PER_DAY, storable } from './names.ts'
export { removeDeletedSites } from './removal.ts'
export { applyRetention, hourRowsFrom, minuteRowsFrom, type Retention } from './retention.ts'
export { rollUp } from './roll-up.ts'
