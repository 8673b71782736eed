import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asError, codeOf, StartupError } from '../../lib/index.ts'
import { errorKindOf } from './protocol.ts'

/** Called with the bytes of a file that are written so far. */
export type Written = (bytes: number) => void

/** Runs a copy of `total` bytes and shows how far it is; ends when the copy does. */
export type CopyWatch = (total: number, copy: (written: Written) => Promise<void>) => Promise<void>

const LOOK_INTERVAL_MS = 200

/** Runs `work`, which fills the file at `path`, and reports the size of the file meanwhile. */
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
 * Runs `work`, which makes a file at `path`, and removes what is left of it afterwards: `work` gives what is to stay
 * another name. An interruption removes it at once, because the program may end before `work` does.
 */
export async function withTemporaryFile<T>(
  path: string,
  interruption: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const remove = (): void => {
    for (const suffix of ['', ...SIDE_FILES]) rmSync(path + suffix, { force: true })
  }
  // A rollback journal that a killed program left beside a file of this name would be applied to the new one.
  remove()
  interruption.addEventListener('abort', remove)
  try {
    return await work()
  } finally {
    interruption.removeEventListener('abort', remove)
    remove()
  }
}

/** What SQLite may have beside a database file: its write-ahead log, the log's index, its rollback journal. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

/**
 * Whether there is something at the path. `existsSync` says no, too, where this user may not look: a backup made by the wrong user
 * would find nothing to back up.
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

/** Gives a file the owner of `model`: what root writes into a service's folder the service could not open. */
export async function ownLike(path: string, model: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(model)
  await chown(path, uid, gid)
}

/** Readable and writable as `model` is; without a model by its owner alone, because ingest keys are in it. */
export async function permitLike(path: string, model: string | undefined): Promise<void> {
  await chmod(path, model === undefined ? PRIVATE : (await stat(model)).mode & 0o777)
}

/**
 * Makes the folder, and those above it that are missing. Node's own `recursive` tries for ever where a file system says of a folder
 * that is there that it is not, as /proc does.
 *
 * @throws Error of the system, or one that says that a file is in the way
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

/** Makes an empty file that its owner alone reads, where there is none; what SQLite puts beside a database gets its rights from it. */
export async function makePrivateFile(path: string): Promise<void> {
  const file = await open(path, 'a', PRIVATE)
  await file.close()
}

/** Permissions of a file that only its owner reads and writes. */
export const PRIVATE = 0o600
/** The same for a folder. SQLite makes its files readable by all, and ingest keys are in them. */
export const PRIVATE_FOLDER = 0o700

const ERRORS_OF_FULL_DISK: readonly string[] = ['ENOSPC', 'EDQUOT']

export const isFullDisk = (thrown: unknown): boolean =>
  ERRORS_OF_FULL_DISK.includes(codeOf(thrown)) || errorKindOf(thrown) === 'full'
