import { Command } from 'commander'
import type { Config } from '../config.ts'
import { StartupError, systemClock } from '../lib/index.ts'
import type { CopiedDatabase, CopyWatch, DatabaseContents } from '../store/index.ts'
import { configFromEnvironment } from './options.ts'
import { withProgress } from './progress.ts'

const BACKUP_HELP = `
The service may be running: the copy holds everything that was answered before the command began. It is checked, and
complete when it gets its name. A file that exists is never overwritten. Ingest keys are in it: keep it to yourself.
The database is the one in DATA_DIR (default ./data). With DATABASE_URL, use pg_dump.

Examples:
  npm run tagwarden -- backup /backup/tagwarden-$(date +%F).db
  DATA_DIR=/var/lib/tagwarden npm run tagwarden -- backup tagwarden.db`

export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the database into one file, while the service runs')
    .argument('<file>', 'the file to make')
    .addHelpText('after', BACKUP_HELP)
    .action(backup)
}

async function backup(file: string): Promise<void> {
  const dataDir = embeddedFolder(configFromEnvironment())
  const { backUpSqlite } = await import('../store/index.ts')
  const { result, seconds } = await timedCopy('copying', (copying) =>
    backUpSqlite({ dataDir, target: file, ...copying }),
  )
  console.log(`backed up to ${file}: ${sizeAndTime(result, seconds)}`)
  for (const line of contentsLines(result)) console.log(line)
}

const RESTORE_HELP = `
The service must be stopped. The file is copied to DATA_DIR (default ./data) and checked before it becomes the database;
the database that was there is kept beside it under another name. With DATABASE_URL, use pg_restore.

Examples:
  npm run tagwarden -- restore /backup/tagwarden-2026-11-20.db
  DATA_DIR=/var/lib/tagwarden npm run tagwarden -- restore tagwarden.db`

export function restoreCommand(): Command {
  return new Command('restore')
    .description('replace the database with a backup, with the service stopped')
    .argument('<file>', 'a file that "tagwarden backup" wrote')
    .addHelpText('after', RESTORE_HELP)
    .action(restore)
}

async function restore(file: string): Promise<void> {
  const dataDir = embeddedFolder(configFromEnvironment())
  const { restoreSqlite } = await import('../store/index.ts')
  const { result, seconds } = await timedCopy('copying', (copying) =>
    restoreSqlite({ dataDir, backup: file, now: systemClock.now(), ...copying }),
  )
  console.log(`restored ${file} to DATA_DIR ${dataDir}: ${sizeAndTime(result, seconds)}`)
  for (const line of contentsLines(result)) console.log(line)
  if (result.pending.length > 0) console.log(`the next start migrates it: ${result.pending.join(', ')}`)
  if (result.keptAs !== undefined) console.log(`the previous database is now ${result.keptAs}`)
}

/** Shows the progress of a copy, and interrupts it. */
interface Copying {
  watchCopy: CopyWatch
  interruption: AbortSignal
}

/** Runs `work` with a progress display and resolves with its result and its duration, seconds. */
async function timedCopy<T>(
  title: string,
  work: (copying: Copying) => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  const began = performance.now()
  const watchCopy: CopyWatch = async (total, copy) => {
    await withProgress(title, total, copy)
    console.error('checking the copy')
  }
  const result = await untilInterrupted((interruption) => work({ watchCopy, interruption }))
  return { result, seconds: (performance.now() - began) / 1_000 }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Runs `work` with a signal that SIGINT and SIGTERM abort. Its listeners must clean up synchronously: right after, the process ends
 * by the same signal and does not wait for SQL in another thread, which nothing can stop.
 */
async function untilInterrupted<T>(work: (interruption: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController()
  const onSignal = (signal: NodeJS.Signals): void => {
    interruption.abort()
    stopListening()
    process.kill(process.pid, signal)
  }
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    return await work(interruption.signal)
  } finally {
    stopListening()
  }
}

/**
 * The folder of the SQLite database, the only kind that these commands can copy.
 *
 * @throws StartupError naming PostgreSQL's own tools when the data is there
 */
function embeddedFolder({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === null) return dataDir
  throw new StartupError(
    'DATABASE_URL is set, so the data is in PostgreSQL: back up with pg_dump -Fc or pg_basebackup, restore with pg_restore',
  )
}

const WHOLE = new Intl.NumberFormat('en-US')

/** `35.2 MB in 1.4 s` */
const sizeAndTime = ({ bytes }: CopiedDatabase, seconds: number): string =>
  `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`

/** What a database holds, one sentence per line. */
function contentsLines({ clients, sites, events, unfolded }: DatabaseContents): string[] {
  const held = `it holds ${amount(clients, 'client')} with ${amount(sites, 'site')} and ${amount(events, 'event')}`
  return unfolded === 0 ? [held] : [held, `and ${amount(unfolded, 'commit')} that the next start adds to the counts`]
}

const amount = (count: number, unit: string): string => `${WHOLE.format(count)} ${unit}${count === 1 ? '' : 's'}`
