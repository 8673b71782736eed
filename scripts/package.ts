/**
 * Makes the npm package: `dist/package`, packed as `dist/tagwarden-<version>.tgz`. Run by `npm run package`, which builds the dashboard first.
 *
 *     node scripts/package.ts [folder]    lays the package out in the folder, and packs nothing
 *
 * The package has its own `package.json` and contains its dependencies in the locked versions, so that everyone runs what was tested and
 * installing needs no registry and runs no scripts. Our own `package.json` pins a Node for the sources, which npm would download; people
 * who install the package have one already.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { bundle, LICENCES, PLACE, UNBUNDLED } from './bundle.ts'
import { licenceTexts } from './licence-texts.ts'
import { type Locked, neededBy } from './lockfile.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const TARGET = join(REPOSITORY, 'dist')

/** Files of the package besides the bundle. */
const COPIED = [
  ...['bin', 'web/dist', 'tag/template.tpl', 'deploy/tagwarden.service'],
  ...['README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD-PARTY.md'],
]

/** The oldest Node that has `node:sqlite` without a flag and can copy an open database (`backup`). */
const NODE = '>=22.16'

/** What packages publish without needing it where they run: half of their bytes. */
const LEFT_OUT = /^(\.github|benchmarks?|e2e|examples?|tests?)$|\.map$/

/** Copies a package without what it does not need. */
function bring(path: string, to: string): void {
  const source = join(REPOSITORY, path)
  cpSync(source, to, { recursive: true, filter: (file) => !LEFT_OUT.test(relative(source, file)) })
}

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

/** The repository, which npm compares with the provenance of a package; empty outside of a build server. */
function repository(): object {
  const { GITHUB_REPOSITORY } = process.env
  if (GITHUB_REPOSITORY === undefined) return {}
  return { repository: { type: 'git', url: `git+https://github.com/${GITHUB_REPOSITORY}.git` } }
}

function manifest(brought: readonly Locked[]): object {
  const { name, version, description, license, keywords, bin } = readJson<Manifest>('package.json')
  return {
    ...{ name, version, description, license, keywords },
    type: 'module',
    bin,
    ...repository(),
    engines: { node: NODE },
    dependencies: Object.fromEntries(
      brought.filter(({ name }) => UNBUNDLED.includes(name)).map(({ name, version }) => [name, version]),
    ),
    bundleDependencies: UNBUNDLED,
  }
}

/** Writes the files of the package. */
async function layOut(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await bundle(join(folder, PLACE))
  for (const path of COPIED) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(REPOSITORY, path), join(folder, path), { recursive: true })
  }
  const brought = neededBy(UNBUNDLED)
  for (const { path } of brought) bring(path, join(folder, path))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(brought), null, 2)}\n`)
  writeFileSync(
    join(folder, 'THIRD-PARTY-LICENSES.txt'),
    licenceTexts([join(folder, PLACE, LICENCES), join(folder, 'web/dist', LICENCES)]),
  )
  execFileSync(process.execPath, [join(import.meta.dirname, 'write-sbom.ts'), join(folder, 'sbom.cdx.json')])
}

function pack(folder: string): void {
  const output = execFileSync('npm', ['pack', folder, '--json', '--pack-destination', TARGET], { encoding: 'utf8' })
  const [packed] = JSON.parse(output) as [{ filename: string; size: number; unpackedSize: number }]
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`dist/${packed.filename}: ${mb(packed.size)}, ${mb(packed.unpackedSize)} unpacked`)
}

const [asked] = process.argv.slice(2)
const folder = resolve(asked ?? join(TARGET, 'package'))
await layOut(folder)
if (asked === undefined) pack(folder)
