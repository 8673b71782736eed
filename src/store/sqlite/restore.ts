import { existsSync, statSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { asError, isoTime, StartupError } from '../../lib/index.ts'
import type { CopiedDatabase } from './backup.ts'
import { takeLock } from './connection.ts'
import { checkedContents } from './contents.ts'
import { errorKindOf } from './errors.ts'
import {
  type CopyWatch,
  isFullDisk,
  makeFolder,
  ownLike,
  permitLike,
  syncToDisk,
  whileGrowing,
  withTemporaryFile,
} from './files.ts'
import { lockPath, sqlitePath } from './open.ts'
import { replaceDatabase } from './replace.ts'

export interface RestoreOptions {
  dataDir: string
  /** The file to restore. It is read only. */
  backup: string
  /** Epoch ms; it names the database that was there. */
  now: number
  watchCopy: CopyWatch
  /** Aborted when the program is about to end: what is half written goes. */
  interruption: AbortSignal
}

export interface RestoredDatabase extends CopiedDatabase {
  /** Where the database that was there is now, if there was one. */
  keptAs: string | undefined
}

/** How every SQLite database begins. */
const MAGIC = 'SQLite format 3\0'

/**
 * Puts a backup in the place of the database in `dataDir` (made when missing), which no service may be using. The backup
 * is copied and checked first; the database that was there is kept under another name.
 *
 * @throws StartupError with one line for the operator; then the database that was there is still in place
 */
export async function restoreSqlite(options: RestoreOptions): Promise<RestoredDatabase> {
  const { dataDir, now } = options
  const backup = resolve(options.backup)
  const database = sqlitePath(dataDir)
  try {
    await refuseOther(backup, resolve(database))
    await makeFolder(resolve(dataDir))
    const lock = await lockFolder(dataDir)
    try {
      // One name is enough, since only the lock's holder uses it: what a killed restore left there is written over.
      const fresh = `${database}.restoring`
      return await withTemporaryFile(fresh, options.interruption, async () => {
        await fill(fresh, backup, database, options)
        const contents = await checkedContents(fresh, backup)
        syncToDisk(fresh)
        const bytes = statSync(fresh).size
        const keptAs = `${database}.before-restore-${isoTime(now).replaceAll(/[-:]/g, '')}`
        return { ...contents, bytes, keptAs: await replaceDatabase(database, fresh, keptAs) }
      })
    } finally {
      lock.close()
    }
  } catch (thrown) {
    throw restoreError(thrown, dataDir, backup)
  }
}

/** Refuses what is no backup before anything is copied. */
async function refuseOther(backup: string, database: string): Promise<void> {
  if (backup === database) throw new StartupError(`${backup} is the database itself: name a backup of it`)
  if (!existsSync(backup)) throw new StartupError(`${backup} does not exist: name a file that "tagwarden backup" wrote`)
  for (const sideFile of [`${backup}-wal`, `${backup}-journal`]) {
    if (!existsSync(sideFile) || statSync(sideFile).size === 0) continue
    throw new StartupError(`${sideFile} belongs to ${backup}: it is a database in use and no backup of one`)
  }
  if ((await beginning(backup)) !== MAGIC) throw new StartupError(`${backup} is no SQLite database`)
}

async function beginning(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

async function lockFolder(dataDir: string): Promise<DatabaseSync> {
  const path = lockPath(dataDir)
  try {
    const lock = takeLock(path)
    await ownLike(path, dataDir)
    return lock
  } catch (thrown) {
    if (errorKindOf(thrown) !== 'busy') throw thrown
    throw new StartupError(`DATA_DIR ${dataDir} is in use by a running Tagwarden: stop it, then restore`)
  }
}

async function fill(
  fresh: string,
  backup: string,
  database: string,
  { dataDir, watchCopy }: RestoreOptions,
): Promise<void> {
  await watchCopy(statSync(backup).size, (written) => whileGrowing(fresh, written, () => copyFile(backup, fresh)))
  const before = existsSync(database) ? database : undefined
  await ownLike(fresh, before ?? dataDir)
  await permitLike(fresh, before)
  // A copied database (not made by us) may expect a write-ahead log beside it. Without one it needs no files but itself.
  const copy = new DatabaseSync(fresh)
  try {
    copy.exec('pragma journal_mode = delete')
  } catch (thrown) {
    if (isFullDisk(thrown)) throw thrown
    throw new StartupError(`${backup} is damaged: ${asError(thrown).message}`)
  } finally {
    copy.close()
  }
}

function restoreError(thrown: unknown, dataDir: string, backup: string): StartupError {
  if (thrown instanceof StartupError) return thrown
  if (isFullDisk(thrown)) {
    return new StartupError(`there is no room for the copy in DATA_DIR ${dataDir}: the database there is as it was`)
  }
  return new StartupError(`cannot restore ${backup} to DATA_DIR ${dataDir}: ${asError(thrown).message}`)
}
