import { createHash } from 'node:crypto'
import { cpSync, globSync } from 'node:fs'
import { readdir, readFile, rm, stat, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../src/lib/index.ts'
import { keepFolder } from '../testkit/kept-folder.ts'
import { REPOSITORY } from '../testkit/repository.ts'
import { bundle, PLACE } from './bundle.ts'

const CACHE = join(REPOSITORY, 'node_modules/.cache/tagwarden-program')
/** The entry, which loads the bundle beside it. */
const ENTRY = 'bin/tagwarden.mjs'
/** The bundle's sources. */
const MADE_OF = ['package.json', 'package-lock.json', 'scripts/bundle.ts', ENTRY, 'src/**/*']
/** What it reads at run time, linked as folders because the dashboard may be rebuilt. */
const READ = ['web', 'tag']

/** Age after which an old bundle is removed, ms: no run takes as long. */
const UNUSED_MS = DAY

/**
 * Bundles the program as it is published, for tests that start it as a process. The bundle, with Node's compile cache, is kept until its
 * sources change.
 *
 * @returns the path of the entry
 */
export async function programForTests(): Promise<string> {
  const folder = join(CACHE, await digest())
  if (await keepFolder(folder, make)) await removeUnused()
  await utimes(folder, new Date(), new Date())
  return join(folder, ENTRY)
}

async function digest(): Promise<string> {
  const hash = createHash('sha256')
  const found = globSync(MADE_OF, { cwd: REPOSITORY, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

async function make(part: string): Promise<void> {
  await bundle(join(part, PLACE), { isPublished: false })
  cpSync(join(REPOSITORY, ENTRY), join(part, ENTRY))
  for (const name of READ) await symlink(join(REPOSITORY, name), join(part, name), 'junction')
}

/** Every change of a source makes another bundle, so old ones must be removed. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const folder = join(CACHE, name)
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > UNUSED_MS) await rm(folder, { recursive: true, force: true })
  }
}
