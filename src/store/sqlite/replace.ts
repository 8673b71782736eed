import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { constants, copyFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../lib/index.ts'
import { errorKindOf } from './errors.ts'
import { codeOf, SIDE_FILES, syncToDisk } from './files.ts'

/** How long another process may still read the old database, ms. */
const BUSY_TIMEOUT_MS = 1_000

/**
 * Puts the database file `fresh` in the place of `database` and keeps that as `keptAs`. The caller holds the folder's
 * lock and has synced `fresh`, which needs no file beside it.
 *
 * SQLite would apply a write-ahead log to whatever database it finds beside it, so the old log must be gone from its name,
 * on disk, before the new file gets that name. The steps, each on disk before the next:
 *
 * 1. the old log is folded into the old database, which then is one file;
 * 2. that file gets the name `keptAs`, too;
 * 3. what is left of files beside it goes;
 * 4. the rename: at every moment there is a database, the old or the new one.
 *
 * Where step 1 fails (a disk that is full or cannot be read), the old database is kept together with its log. Only then,
 * between 3 and 4, would a start after a crash see the old database without its log.
 *
 * @returns `keptAs`, or undefined when there was no database
 * @throws StartupError when another program reads the old database
 */
export async function replaceDatabase(database: string, fresh: string, keptAs: string): Promise<string | undefined> {
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

/** Leaving WAL mode moves the log into the database and removes it, if no other process has the database open. */
function foldLog(database: string): void {
  let old: DatabaseSync | undefined
  try {
    old = new DatabaseSync(database, { timeout: BUSY_TIMEOUT_MS })
    old.exec('pragma journal_mode = delete')
  } catch (thrown) {
    if (errorKindOf(thrown) === 'busy') {
      throw new StartupError(`${database} is open in another program (a backup, or sqlite3): wait for it or end it`)
    }
    // It is damaged, which may be why there is a restore: it is kept as it is.
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
