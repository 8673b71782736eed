import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Makes a folder that is kept for later runs, if it is missing. It never exists half-made.
 *
 * @param folder its name identifies what it was made from
 * @param make fills the given folder, which is then renamed into place
 * @returns whether it was missing
 */
export async function keepFolder(folder: string, make: (part: string) => Promise<void>): Promise<boolean> {
  if (existsSync(folder)) return false
  await mkdir(dirname(folder), { recursive: true })
  const part = await mkdtemp(join(dirname(folder), 'part-'))
  try {
    await make(part)
    // Another run may have made the same folder meanwhile.
    await rename(part, folder).catch((thrown) => {
      if (!existsSync(folder)) throw thrown
    })
    return true
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}
