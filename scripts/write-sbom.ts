import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes `sbom.cdx.json`, the components of the program at run time (CycloneDX), from the lockfile alone. The file is not in the
 * repository, because it changes with every lockfile and each has its own serial number and time.
 *
 *     node scripts/write-sbom.ts [target]
 */
const REPOSITORY = join(import.meta.dirname, '..')

interface Component {
  'bom-ref': string
  name: string
}

interface Bill {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; dev?: boolean; devOptional?: boolean }>
}

/** What `npm ci --omit=dev` installs: all packages except development dependencies. */
const running = new Set(
  Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
    ),
)

function readBill(): Bill {
  // Include development dependencies even under NODE_ENV=production: otherwise npm 11 leaves out packages that both need, such as `pg`.
  const args = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
    '--include=dev',
  ]
  const text = execFileSync('npm', args, { cwd: REPOSITORY, encoding: 'utf8', maxBuffer: 64 * 1_048_576 })
  return JSON.parse(text) as Bill
}

const target = process.argv[2] ?? join(REPOSITORY, 'sbom.cdx.json')
const bill = readBill()
const components = bill.components.filter((component) => running.has(component['bom-ref']))
const refs = new Set([bill.metadata.component['bom-ref'], ...components.map((component) => component['bom-ref'])])
const dependencies = bill.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
// npm uses the name of the folder.
bill.metadata.component.name = 'tagwarden'
writeFileSync(target, `${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`)
console.log(`${components.length} packages in ${target}`)
