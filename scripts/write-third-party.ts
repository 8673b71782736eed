/**
 * Writes THIRD-PARTY.md: the packages that are distributed with ours, and their licences. With `--check` it writes nothing, and fails when
 * the file differs.
 *
 * It reads the lockfile, and the sources' addresses from installed packages. Packages for certain machines only are not read, so that the
 * page is the same everywhere.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGenerated } from './generated-file.ts'
import { allLocked, type Locked, neededBy } from './lockfile.ts'

const REPOSITORY = join(import.meta.dirname, '..')

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')

/** What `npm ci --omit=dev` installs. */
const running = allLocked().filter(({ dev, devOptional }) => dev !== true && devOptional !== true)

/** What the dashboard's sources import, with its dependencies: some of it is in the files that a browser loads. */
function bundled(): Locked[] {
  const names = globSync('web/src/**/*.{ts,tsx,css}', { cwd: REPOSITORY }).flatMap((file) =>
    [...read(file).matchAll(/(?:from|import|import\()\s*['"]((?:@[\w.-]+\/)?[a-z][\w.-]*)[^'"]*['"]/g)].flatMap(
      ([, name]) => name ?? [],
    ),
  )
  return neededBy(names)
}

function sourceOf({ path, name }: Locked): string {
  const manifest = JSON.parse(read(`${path}/package.json`)) as { repository?: string | { url?: string } }
  const { repository } = manifest
  const given = (typeof repository === 'string' ? repository : repository?.url) ?? ''
  const bare = given
    .replace(/^git\+/, '')
    .replace(/\.git$/, '')
    .replace(/^github:/, '')
  if (/^[\w.-]+\/[\w.-]+$/.test(bare)) return `https://github.com/${bare}`
  const host = bare.replace(/^(ssh:\/\/)?git@([\w.]+)[:/]/, 'https://$2/').replace(/^(git|http|ssh):\/\//, 'https://')
  return host.startsWith('https://') ? host : `https://www.npmjs.com/package/${name}`
}

const byName = (a: Locked, b: Locked): number => {
  const [first, second] = [`${a.name}@${a.version}`, `${b.name}@${b.version}`]
  return first < second ? -1 : Number(first > second)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const unique = new Set([head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`))
  return [...unique].join('\n')
}

const listed = (some: readonly Locked[]): string =>
  table(
    ['Package', 'Version', 'Licence', 'Source'],
    some
      .toSorted(byName)
      .map((one) => [`\`${one.name}\``, one.version, one.license ?? 'see its source', `<${sourceOf(one)}>`]),
  )

const forSome = running.filter(({ optional }) => optional === true)
const machines = ({ os, cpu }: Locked): string => [os ?? [], cpu ?? []].flat().join(' ') || 'wherever it can be used'

const page = `# Third parties

Written by \`npm run docs\` from the lockfile. Each package has its licence's text in its own folder under \`node_modules\`. The npm
package and the image bring the texts in \`THIRD-PARTY-LICENSES.txt\`: of all that is in their files, the program's and the dashboard's.

## What runs

${listed(running.filter(({ optional }) => optional !== true))}

## What runs on some machines only

The \`node-…\` packages are the Node that runs the service. Each is pinned like every package, by the exact version in \`package.json\` and
by the SHA-512 of its content in \`package-lock.json\`: \`npm ci\` refuses anything else, and nothing of it runs on installation. Each holds
the program \`node\` of that release, which is a work of many under the licences in
<https://github.com/nodejs/node/blob/main/LICENSE>.

${table(
  ['Package', 'Version', 'Licence', 'For', 'Content'],
  forSome
    .toSorted(byName)
    .map((one) => [
      `\`${one.name}\``,
      one.version,
      one.license ?? 'see its source',
      machines(one),
      `\`${one.integrity ?? ''}\``,
    ]),
)}

## What the dashboard is made of

What its sources import, and what that depends on. Its build puts what is used of it into the files that a browser loads.

${listed(bundled())}
`

writeGenerated('THIRD-PARTY.md', page, 'package-lock.json')
