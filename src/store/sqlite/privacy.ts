import { chmod, stat } from 'node:fs/promises'
import { PRIVATE, SIDE_FILES } from './files.ts'
import { lockPath, sqlitePath } from './open.ts'

const OTHERS = 0o077

/**
 * Restricts the files of the database in `dataDir` to their owner: an earlier version, or a copy by hand, let every user of the
 * machine read the ingest keys in them. Files of another owner stay as they are, and so do files on a file system without modes.
 *
 * @returns those that others could read or write until now
 */
export async function keepSqlitePrivate(dataDir: string): Promise<string[]> {
  const path = sqlitePath(dataDir)
  const files = [path, ...SIDE_FILES.map((suffix) => path + suffix), lockPath(dataDir)]
  const closed: string[] = []
  for (const file of files) if (await close(file)) closed.push(file)
  return closed
}

/** Whether it was open to others and is not any more. */
async function close(file: string): Promise<boolean> {
  try {
    const { mode, uid } = await stat(file)
    if ((mode & OTHERS) === 0 || uid !== (process.getuid?.() ?? uid)) return false
    await chmod(file, PRIVATE)
    // Windows and mounts without modes say yes and change nothing.
    return ((await stat(file)).mode & OTHERS) === 0
  } catch {
    // Missing, or on a file system without modes: it works as before, and `doctor` reports who may read it.
    return false
  }
}
