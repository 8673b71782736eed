export { unionOf } from './bound.ts'
export * from './columns.ts'
export { hourSplit } from './derive.ts'
export { LOCK_ORDER } from './lock-order.ts'
export { Maintenance } from './maintenance.ts'
export { mergeParts, type SiteMinute } from './merge-parts.ts'
export {
  dirtyCounts,
  minuteCounts,
  minuteParts,
  newPart,
  type PartsRead,
  packedParts,
  partCounts,
  partsOf,
  SECTION_ORDER,
  SECTIONS,
} from './minute-parts.ts'
export * from './range-plan.ts'
export { localDay, type TimeRange } from './range-plan.ts'
export { removeDeletedSites } from './removal.ts'
export { applyRetention } from './retention.ts'
export { Backoff, rollUp } from './roll-up.ts'
