/**
 * Makes the npm package: `dist/package`, and of it `dist/tagwarden-<version>.tgz`. Run by `npm run package`, which builds the dashboard first.
 *
 *     node scripts/package.ts [folder]    lays the package out in the folder, and packs nothing
 *
 * The package has a `package.json` of its own. It depends on nothing that runs a script when it is installed: our own pins the Node that
 * runs the sources, which npm would download with it; whoever installs this has one.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundle, PLACE, UNBUNDLED } from './bundle.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const TARGET = join(REPOSITORY, 'dist')

/** What the package has beside the bundle. */
const COPIED = ['bin', 'web/dist', 'tag/template.tpl', 'README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD-PARTY.md']

/** The oldest Node that has `node:sqlite` without a flag, and a copy of an open database (`backup`). */
const NODE = '>=22.16'

interface Manifest {
  name: string
  version: string
  description: string
  license: string
  keywords: string[]
  bin: Record<string, string>
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(REPOSITORY, path), 'utf8')) as T
}

/** The versions that the lockfile has, so that everyone runs what was tested. */
function pinned(names: readonly string[]): Record<string, string> {
  const { packages } = readJson<{ packages: Record<string, { version: string } | undefined> }>('package-lock.json')
  return Object.fromEntries(
    names.map((name) => {
      const locked = packages[`node_modules/${name}`]
      if (locked === undefined) throw new Error(`the lockfile has no ${name}`)
      return [name, locked.version]
    }),
  )
}

function manifest(): object {
  const { name, version, description, license, keywords, bin } = readJson<Manifest>('package.json')
  return {
    ...{ name, version, description, license, keywords },
    type: 'module',
    bin,
    engines: { node: NODE },
    dependencies: pinned(UNBUNDLED),
  }
}

/** Writes all that belongs into the package. */
async function layOut(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await bundle(join(folder, PLACE))
  for (const path of COPIED) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(REPOSITORY, path), join(folder, path), { recursive: true })
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

function pack(folder: string): void {
  const output = execFileSync('npm', ['pack', folder, '--json', '--pack-destination', TARGET], { encoding: 'utf8' })
  const [packed] = JSON.parse(output) as [{ filename: string; size: number; unpackedSize: number }]
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`dist/${packed.filename}: ${mb(packed.size)}, ${mb(packed.unpackedSize)} unpacked`)
}

const [asked] = process.argv.slice(2)
const folder = asked ?? join(TARGET, 'package')
await layOut(folder)
if (asked === undefined) pack(folder)
