import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A place that names the current version. */
export interface Mention {
  file: string
  line: number
  version: string
}

const VERSION = String.raw`(\d+\.\d+\.\d+)`

/** Files with a pattern of their mentions: the first group is the text before the version, the second the version. */
const PLACES: readonly (readonly [files: string, pattern: RegExp])[] = [
  ['package.json', new RegExp(`^(  "version": ")${VERSION}`, 'gm')],
  // The lockfile has the version twice: its own, and as that of a package.
  [
    'package-lock.json',
    new RegExp(`^((?: {2}| {6})"version": ")${VERSION}(?=",\\n\\s+"(?:lockfileVersion|license": "Apache))`, 'gm'),
  ],
  ['deploy/helm/tagwarden/Chart.yaml', new RegExp(`^((?:appVersion|version): "?)${VERSION}`, 'gm')],
  // Text that people copy: `tagwarden-0.1.0.tgz`, `OWNER/tagwarden:0.1.0`, `tagwarden@0.1.0`.
  [
    '{README.md,compose.yaml,docs/*.md,deploy/**/*.{md,service,toml,yaml,Dockerfile}}',
    new RegExp(`(\\btagwarden[-:@])${VERSION}`, 'g'),
  ],
  ['{README.md,docs/*.md}', new RegExp(`(--version )${VERSION}`, 'g')],
  ['README.md', new RegExp(`(^ {4}version: ")${VERSION}`, 'gm')],
]

/** Every mention of the version in the repository at `root`. */
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

/** Writes another version into all these places. */
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

/** Compares two versions: negative when `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [a, b].map((version) => version.split('.').map(Number))
  for (let part = 0; part < 3; part++) {
    const difference = (first?.[part] ?? 0) - (second?.[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
