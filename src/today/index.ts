export { type Change, Changes, changeInWords } from './changes.ts'
export type { ChangeRecord, Today } from './schemas.ts'
export { todayRoutes, weeksOf } from './today.ts'
export { versionInWords, versionsIn } from './versions.ts'
