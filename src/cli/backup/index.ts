export { backupCommand } from './backup.ts'
export { restoreCommand } from './restore.ts'
