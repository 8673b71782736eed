import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { constants, copyFile, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { asError, codeOf, isoTime, StartupError } from '../../lib/index.ts'
import type { CopiedDatabase } from './backup.ts'
import { takeLock } from './connection.ts'
import { checkedContents } from './contents.ts'
import {
  type CopyWatch,
  exists,
  isFullDisk,
  makeFolder,
  ownLike,
  permitLike,
  SIDE_FILES,
  syncToDisk,
  whileGrowing,
  withTemporaryFile,
} from './files.ts'
import { lockPath, sqlitePath } from './open.ts'
import { errorKindOf } from './protocol.ts'

export interface RestoreOptions {
  dataDir: string
  /** The file to restore. It is only read. */
  backup: string
  /** Epoch ms; becomes part of the previous database's new name. */
  now: number
  watchCopy: CopyWatch
  /** Aborted when the program is about to end: the partial file is removed then. */
  interruption: AbortSignal
}

export interface RestoredDatabase extends CopiedDatabase {
  /** Where the previous database is now, if there was one. */
  keptAs: string | undefined
}

/** The first bytes of every SQLite database. */
const MAGIC = 'SQLite format 3\0'

/**
 * Replaces the database in `dataDir`, which no service may be using, with a backup. The folder is created if missing. The backup
 * is copied and checked first; the previous database is kept under another name.
 *
 * @throws StartupError with one line for the operator; the previous database is then still in place
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
      // One name is enough, because only the holder of the lock uses it: it overwrites what a killed restore left.
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

/** Refuses files that are not backups before anything is copied. */
async function refuseOther(backup: string, database: string): Promise<void> {
  if (backup === database) throw new StartupError(`${backup} is the database itself: name a backup of it`)
  if (!exists(backup)) throw new StartupError(`${backup} does not exist: name a file that "tagwarden backup" wrote`)
  for (const sideFile of [`${backup}-wal`, `${backup}-journal`]) {
    if (!existsSync(sideFile) || statSync(sideFile).size === 0) continue
    throw new StartupError(`${sideFile} belongs to ${backup}: it is a database in use, not a backup`)
  }
  if ((await beginning(backup)) !== MAGIC) throw new StartupError(`${backup} is not an SQLite database`)
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
  // A copied database (not made by `backup`) may expect a write-ahead log beside it. Without WAL mode it needs no other file.
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

/** How long to wait for another process that still reads the old database, ms. */
const BUSY_TIMEOUT_MS = 1_000

/**
 * Replaces the file `database` with `fresh` and keeps the old one as `keptAs`. The caller holds the folder's lock and has synced
 * `fresh`, which needs no file beside it.
 *
 * SQLite applies a write-ahead log to whatever database it finds beside it, so the old log must be gone from its name, on disk,
 * before the new file gets its name. The steps, each on disk before the next:
 *
 * 1. Fold the old log into the old database, which then is one file.
 * 2. Give that file the additional name `keptAs`.
 * 3. Remove any files left beside it.
 * 4. Rename: at every moment there is a database, the old or the new one.
 *
 * Where step 1 fails (a disk that is full or cannot be read), the old database is kept together with its log. Only then, between
 * 3 and 4, would a start after a crash find the old database without its log.
 *
 * @returns `keptAs`, or undefined when there was no database
 * @throws StartupError when another program reads the old database
 */
async function replaceDatabase(database: string, fresh: string, keptAs: string): Promise<string | undefined> {
  const folder = dirname(database)
  const isThere = existsSync(database)
  if (isThere) {
    foldLog(database)
    for (const suffix of ['', '-wal', '-journal']) {
      if (existsSync(database + suffix)) await keep(database + suffix, keptAs + suffix)
    }
    syncToDisk(folder)
  }
  for (const suffix of SIDE_FILES) rmSync(database + suffix, { force: true })
  syncToDisk(folder)
  renameSync(fresh, database)
  syncToDisk(folder)
  return isThere ? keptAs : undefined
}

/** Leaving WAL mode moves the log into the database and removes it, provided that no other process has the database open. */
function foldLog(database: string): void {
  let old: DatabaseSync | undefined
  try {
    old = new DatabaseSync(database, { timeout: BUSY_TIMEOUT_MS })
    old.exec('pragma journal_mode = delete')
  } catch (thrown) {
    if (errorKindOf(thrown) === 'busy') {
      throw new StartupError(`${database} is open in another program (a backup, or sqlite3): wait for it or end it`)
    }
    // It is damaged, which may be the reason for the restore: keep it as it is.
  } finally {
    old?.close()
  }
}

async function keep(path: string, as: string): Promise<void> {
  try {
    linkSync(path, as)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') throw thrown
    // The file system has no links.
    await copyFile(path, as, constants.COPYFILE_EXCL)
    syncToDisk(as)
  }
}
