import { existsSync, linkSync, renameSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { asError, codeOf, newId, StartupError } from '../../lib/index.ts'
import type { Tables } from '../tables.ts'
import { checkedContents, type DatabaseContents, withDatabaseFile } from './contents.ts'
import { type CopyWatch, exists, isFullDisk, PRIVATE, syncToDisk, whileGrowing, withTemporaryFile } from './files.ts'
import { sqlitePath } from './open.ts'

export interface BackupOptions {
  dataDir: string
  /** The file to create; it must not exist. */
  target: string
  watchCopy: CopyWatch
  /** Aborted when the program is about to end: the partial file is removed then. */
  interruption: AbortSignal
}

/** A file that was written and checked. */
export interface CopiedDatabase extends DatabaseContents {
  bytes: number
}

/**
 * Copies the database in `dataDir`, as of this moment, into one file, while a service may be writing to it. The file gets its
 * name once it is on disk and checked.
 *
 * It uses `vacuum into`: one statement, so one snapshot, and commits continue meanwhile. SQLite's backup interface (`backup()` of
 * `node:sqlite`) copies in steps and starts again whenever another connection has written in between, so beside a service that
 * receives events it would never end. The price is that the write-ahead log cannot restart until the copy is done, and one pass
 * of the processor over all rows; in return the file is smaller.
 *
 * A read-only connection cannot remove a write-ahead log that it had to create: without a service, an empty one remains.
 *
 * @throws StartupError with one line for the operator
 */
export async function backUpSqlite(options: BackupOptions): Promise<CopiedDatabase> {
  const { dataDir, interruption } = options
  const target = resolve(options.target)
  const source = sqlitePath(dataDir)
  if (!exists(source)) throw new StartupError(`there is no database in DATA_DIR ${dataDir}: nothing to back up`)
  if (exists(target)) throw taken(target)
  const temporary = `${target}.${newId()}.part`
  try {
    return await withTemporaryFile(temporary, interruption, async () => {
      // Created here, because SQLite would let others read it; `vacuum into` accepts an empty file.
      await (await open(temporary, 'wx', PRIVATE)).close()
      await withDatabaseFile(source, (db) => copy(db, temporary, options.watchCopy))
      const contents = await checkedContents(temporary, `the copy of ${source}`)
      syncToDisk(temporary)
      const bytes = statSync(temporary).size
      publish(temporary, target)
      syncToDisk(dirname(target))
      return { ...contents, bytes }
    })
  } catch (thrown) {
    throw backupError(thrown, source, target)
  }
}

async function copy(db: Kysely<Tables>, target: string, watchCopy: CopyWatch): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`
    select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count, pragma_freelist_count, pragma_page_size`.execute(db)
  await watchCopy(rows[0]?.bytes ?? 0, (written) =>
    whileGrowing(target, written, () => sql`vacuum into ${target}`.execute(db)),
  )
}

/** Gives the file its name. A link fails where a rename would silently replace a file created meanwhile. */
function publish(temporary: string, target: string): void {
  try {
    linkSync(temporary, target)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST' || existsSync(target)) throw taken(target)
    // The file system has no links, as on many memory sticks.
    renameSync(temporary, target)
  }
}

const taken = (target: string): StartupError =>
  new StartupError(`${target} exists: a backup never overwrites a file, name another one`)

function backupError(thrown: unknown, source: string, target: string): StartupError {
  if (thrown instanceof StartupError) return thrown
  const folder = dirname(target)
  if (isFullDisk(thrown)) {
    return new StartupError(`there is no room for the copy in ${folder}: nothing of it was kept`)
  }
  if (codeOf(thrown) === 'ENOENT') return new StartupError(`the folder ${folder} does not exist: make it first`)
  return new StartupError(`cannot back up ${source} to ${target}: ${asError(thrown).message}`)
}
