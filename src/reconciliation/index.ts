export { type ComparedDay, compareDays } from './compare.ts'
export type { ReferenceCount } from './given-counts.ts'
export { newestReference, writeFetchedCounts, writeReferenceCounts } from './reference-counts.ts'
export { offsetsOf, readSeries, withShifts } from './report.ts'
export { reconciliationRoutes } from './routes.ts'
export {
  type AddedRecord,
  type AddReferenceCounts,
  EventName,
  type ReconciliationAnswer,
  type ReferenceRecord,
  SourceName,
} from './schemas.ts'
export { fitTimeShift, shiftInWords } from './time-shift.ts'
