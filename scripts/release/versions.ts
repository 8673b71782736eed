import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A place that says which version this is. */
export interface Mention {
  file: string
  line: number
  version: string
}

const VERSION = String.raw`(\d+\.\d+\.\d+)`

/** Files, and around what the version stands in them: what is before it is the first group, the version is the second. */
const PLACES: readonly (readonly [files: string, pattern: RegExp])[] = [
  ['package.json', new RegExp(`^(  "version": ")${VERSION}`, 'gm')],
  // Its own version and, as of a package among others, once more.
  [
    'package-lock.json',
    new RegExp(`^((?: {2}| {6})"version": ")${VERSION}(?=",\\n\\s+"(?:lockfileVersion|license": "Apache))`, 'gm'),
  ],
  ['deploy/helm/tagwarden/Chart.yaml', new RegExp(`^((?:appVersion|version): "?)${VERSION}`, 'gm')],
  // What people copy: `tagwarden-0.1.0.tgz`, `OWNER/tagwarden:0.1.0`, `tagwarden@0.1.0`.
  [
    '{README.md,compose.yaml,docs/*.md,deploy/**/*.{md,service,toml,yaml,Dockerfile}}',
    new RegExp(`(\\btagwarden[-:@])${VERSION}`, 'g'),
  ],
  ['{README.md,docs/*.md}', new RegExp(`(--version )${VERSION}`, 'g')],
  ['README.md', new RegExp(`(^ {4}version: ")${VERSION}`, 'gm')],
]

/** Every place in the repository at `root` that says the version. */
export function mentionsIn(root: string): Mention[] {
  return PLACES.flatMap(([files, pattern]) =>
    globSync(files, { cwd: root }).flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return [...text.matchAll(pattern)].map(({ index, 2: version = '' }) => ({
        file,
        line: text.slice(0, index).split('\n').length,
        version,
      }))
    }),
  )
}

/** Writes another version into all of them. */
export function setVersion(root: string, version: string): void {
  for (const [files, pattern] of PLACES) {
    for (const file of globSync(files, { cwd: root })) {
      const path = join(root, file)
      const text = readFileSync(path, 'utf8')
      const changed = text.replaceAll(pattern, (_, before: string) => before + version)
      if (changed !== text) writeFileSync(path, changed)
    }
  }
}

/** Which is the newer of two versions: below 0 if `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [a, b].map((version) => version.split('.').map(Number))
  for (let part = 0; part < 3; part++) {
    const difference = (first?.[part] ?? 0) - (second?.[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
