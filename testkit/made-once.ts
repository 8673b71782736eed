import { rmSync } from 'node:fs'
import { access, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fastestFolder, newFolder } from './folders.ts'

/** The variable with the folder that all test processes of a run share. */
const SHARED = 'TAGWARDEN_TEST_SHARED'

/** @param folder an existing folder, for this process and those that it starts; the caller removes it */
export function shareFolder(folder: string): void {
  process.env[SHARED] = folder
}

/**
 * A folder that takes long to make and that tests copy. The first process of a run that needs it makes it, and others wait.
 *
 * @param make fills the folder, which exists
 */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const made = join(await sharedFolder(), name)
  const lock = `${made}.lock`
  for (;;) {
    if (await exists(made)) return made
    if (await tryMake(lock)) break
    await setTimeout(50)
  }
  try {
    // Another process may have made it before this one got the lock.
    if (!(await exists(made))) {
      const part = `${made}.part`
      // Remove what a failed attempt has left.
      await rm(part, { recursive: true, force: true })
      await mkdir(part)
      await make(part)
      await rename(part, made)
    }
    return made
  } finally {
    await rmdir(lock)
  }
}

let own: Promise<string> | undefined

/** The run's shared folder; without one, a folder of this process, removed when it ends. */
function sharedFolder(): string | Promise<string> {
  const shared = process.env[SHARED]
  if (shared !== undefined) return shared
  own ??= fastestFolder()
    .then(newFolder)
    .then((folder) => {
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
      return folder
    })
  return own
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function tryMake(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return false
    throw thrown
  }
}
