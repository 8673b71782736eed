import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The migrations of each release with the SHA-256 of their files, also readable by `sha256sum -c` in that folder. A store never repeats a
 * step, so a later change of one would reach only new stores.
 */
const LIST = 'released.sha256'
const FOLDER = 'src/store/migrations'

interface Frozen {
  /** The first release with it. */
  version: string
  file: string
  sha256: string
}

const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const stepsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.ts$/.test(name))
    .sort()

/** The released migrations of the repository at `root`. */
export function frozenIn(root: string): Frozen[] {
  const path = join(root, FOLDER, LIST)
  if (!existsSync(path)) return []
  let version = ''
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('# ')) version = line.slice(2)
      const [, sha256, file] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? []
      return sha256 === undefined || file === undefined ? [] : [{ version, file, sha256 }]
    })
}

/** The released migrations that are changed or missing, one line each. */
export function changedSince(root: string): string[] {
  const folder = join(root, FOLDER)
  const frozen = frozenIn(root)
  const changed = frozen.flatMap(({ version, file, sha256 }) => {
    const path = join(folder, file)
    if (!existsSync(path)) return [`${file} is gone, which ${version} has taken`]
    return sha256Of(path) === sha256
      ? []
      : [`${file} differs from that of ${version}: take the change back, and add a migration`]
  })
  const last = frozen.at(-1)?.file ?? ''
  const known = new Set(frozen.map(({ file }) => file))
  const inserted = stepsIn(folder).filter((file) => !known.has(file) && file < last)
  return [
    ...changed,
    ...inserted.map((file) => `${file} comes before ${last}, which was released without it: number it after`),
  ]
}

/** The migrations that are not in any release. */
export function unreleased(root: string): string[] {
  const known = new Set(frozenIn(root).map(({ file }) => file))
  return stepsIn(join(root, FOLDER)).filter((file) => !known.has(file))
}

/** Adds the unreleased migrations to the list, under a release. */
export function freeze(root: string, version: string): void {
  const lines = unreleased(root).map((file) => `${sha256Of(join(root, FOLDER, file))}  ${file}\n`)
  appendFileSync(join(root, FOLDER, LIST), `# ${version}\n${lines.join('')}`)
}
