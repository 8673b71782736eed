import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asError, codeOf, StartupError } from '../../lib/index.ts'
import { errorKindOf } from './protocol.ts'

/** Called with the bytes of a file written so far. */
export type Written = (bytes: number) => void

/** Runs a copy of `total` bytes and shows its progress; resolves when the copy does. */
export type CopyWatch = (total: number, copy: (written: Written) => Promise<void>) => Promise<void>

const LOOK_INTERVAL_MS = 200

/** Runs `work`, which fills the file at `path`, and reports the file's size meanwhile. */
export async function whileGrowing(path: string, written: Written, work: () => Promise<unknown>): Promise<void> {
  const look = setInterval(() => {
    stat(path).then(
      ({ size }) => written(size),
      () => undefined, // Not made yet, or gone with the work that failed.
    )
  }, LOOK_INTERVAL_MS)
  try {
    await work()
  } finally {
    clearInterval(look)
  }
}

/**
 * Runs `work`, which makes a file at `path`, and removes what is left of it afterwards; `work` renames what is to stay. An
 * interruption removes it at once, because the program may end before `work` does.
 */
export async function withTemporaryFile<T>(
  path: string,
  interruption: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const remove = (): void => {
    for (const suffix of ['', ...SIDE_FILES]) rmSync(path + suffix, { force: true })
  }
  // SQLite would apply a rollback journal that a killed program left under this name to the new file.
  remove()
  interruption.addEventListener('abort', remove)
  try {
    return await work()
  } finally {
    interruption.removeEventListener('abort', remove)
    remove()
  }
}

/** Suffixes of files that SQLite may keep beside a database: the write-ahead log, its index and the rollback journal. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

/**
 * Whether the path exists. `existsSync` also returns false where this user may not look, so a backup run by the wrong user would
 * find nothing to back up.
 *
 * @throws StartupError with one line for the operator
 */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (thrown) {
    throw new StartupError(`${path} is out of reach (${asError(thrown).message}): run this as a user who may read it`)
  }
}

/** Waits until the file's content, or the folder's list of names, is on disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** When run by root, gives a file the owner of `model`: the service could not open root's file in its folder. */
export async function ownLike(path: string, model: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(model)
  await chown(path, uid, gid)
}

/** Gives a file the permissions of `model`; without one, to its owner only, because it contains ingest keys. */
export async function permitLike(path: string, model: string | undefined): Promise<void> {
  await chmod(path, model === undefined ? PRIVATE : (await stat(model)).mode & 0o777)
}

/**
 * Creates the folder and missing ones above it. Node's own `recursive` retries for ever on a file system that reports an existing
 * folder as missing, as /proc does.
 *
 * @throws Error of the system, or one saying that a file is in the way
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER })
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') {
      if (!(await stat(path)).isDirectory()) throw new Error(`${path} is not a folder`)
      return
    }
    const above = dirname(path)
    if (codeOf(thrown) !== 'ENOENT' || above === path) throw thrown
    if (await isThere(above)) throw new Error(`no folder can be made in ${above}`)
    await makeFolder(above)
    await mkdir(path, { mode: PRIVATE_FOLDER })
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Creates an empty file that only its owner can read, unless it exists. SQLite gives the files beside a database the same permissions. */
export async function makePrivateFile(path: string): Promise<void> {
  const file = await open(path, 'a', PRIVATE)
  await file.close()
}

/** Permissions of a file that only its owner reads and writes. */
export const PRIVATE = 0o600
/** The same for a folder. SQLite makes its files readable by all, and they contain ingest keys. */
const PRIVATE_FOLDER = 0o700

const ERRORS_OF_FULL_DISK: readonly string[] = ['ENOSPC', 'EDQUOT']

export const isFullDisk = (thrown: unknown): boolean =>
  ERRORS_OF_FULL_DISK.includes(codeOf(thrown)) || errorKindOf(thrown) === 'full'
