import { chmod, stat } from 'node:fs/promises'
import { PRIVATE, SIDE_FILES } from './files.ts'
import { lockPath, sqlitePath } from './open.ts'

const OTHERS = 0o077

/**
 * Takes the files of the database in `dataDir` from everybody but their owner: an earlier version, or a copy by hand, let all of the
 * machine read the ingest keys in them. Files of another owner stay as they are, and so does what a file system without modes holds.
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
    // Not there, or what holds it takes no modes: it works as it did, and `doctor` tells who may read it.
    return false
  }
}
