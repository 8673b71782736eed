import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Makes a folder that runs keep for later ones, if it is missing. It is there as a whole or not at all.
 *
 * @param folder its name says what it was made of
 * @param make fills the folder that it gets, which moves to its place afterwards
 * @returns whether it was missing
 */
export async function keepFolder(folder: string, make: (part: string) => Promise<void>): Promise<boolean> {
  if (existsSync(folder)) return false
  await mkdir(dirname(folder), { recursive: true })
  const part = await mkdtemp(join(dirname(folder), 'part-'))
  try {
    await make(part)
    // Two runs that begin at the same time make the same.
    await rename(part, folder).catch((thrown) => {
      if (!existsSync(folder)) throw thrown
    })
    return true
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}
