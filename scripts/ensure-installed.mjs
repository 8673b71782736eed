/**
 * Installs the dependencies when they are missing or differ from package-lock.json; silent when there is nothing to do.
 * It runs before `npm start`, `npm test` and `npm run verify`, when the pinned Node may not be installed yet: plain JavaScript without
 * dependencies, for any Node on the machine.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))

/** Scripts that run the service or its commands, which do not need the development dependencies. */
const RUNS = ['prestart', 'predemo', 'pretagwarden']
const needsDev = !RUNS.includes(process.env.npm_lifecycle_event)
const NODE_MISSING = 'the pinned Node is missing'

const reason = reasonToInstall()
if (reason !== null) install(reason)
requireFittingNode()

/** What is wrong with the installed dependencies, or null. */
function reasonToInstall() {
  const installed = readJson('node_modules/.package-lock.json')
  if (installed === null) return 'the dependencies are missing'
  const locked = readJson('package-lock.json')
  const manifest = readJson('package.json')
  if (nodeForThisMachine(locked) && !existsSync(`${repository}node_modules/.bin/node`)) return NODE_MISSING
  const same = locked !== null && manifestIsLocked(manifest, locked) && lockedIsInstalled(locked, installed)
  return same ? null : 'the dependencies are not those of package-lock.json'
}

/** Whether package-lock.json matches this package.json; if not, `npm ci` explains the difference. */
function manifestIsLocked(manifest, locked) {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => JSON.stringify(manifest[kind]) === JSON.stringify(locked.packages[''][kind]),
  )
}

/** Whether exactly the locked packages are installed. Optional ones depend on the machine and may be absent. */
function lockedIsInstalled(locked, installed) {
  const identity = (entry) => entry && `${entry.version} ${entry.integrity}`
  const complete = Object.entries(locked.packages).every(
    ([path, entry]) =>
      path === '' ||
      (mayBeAbsent(entry) && !(path in installed.packages)) ||
      identity(installed.packages[path]) === identity(entry),
  )
  return complete && Object.keys(installed.packages).every((path) => path in locked.packages)
}

/** `npm ci` leaves out development dependencies with `--omit=dev`, and automatically under NODE_ENV=production. */
function mayBeAbsent(entry) {
  return entry.optional === true || (entry.dev === true && !needsDev)
}

/** The packages that contain Node itself; npm installs the one that fits the machine. */
function lockedNodes(locked) {
  return Object.entries(locked?.packages ?? {})
    .filter(([path, entry]) => /^node_modules\/node-(?:bin-)?(?:darwin|linux|win)-\w+$/.test(path) && entry.bin?.node)
    .map(([, entry]) => entry)
}

function nodeForThisMachine(locked) {
  const fits = (allowed, own) => allowed === undefined || [allowed].flat().includes(own)
  return lockedNodes(locked).find(({ os, cpu }) => fits(os, process.platform) && fits(cpu, process.arch))
}

/** When no Node is locked for this machine, its own must do, if it is like the locked one. */
function requireFittingNode() {
  const locked = readJson('package-lock.json')
  const [pinned] = lockedNodes(locked)
  if (pinned === undefined || nodeForThisMachine(locked)) return
  const [major, ...lower] = pinned.version.split('.').map(Number)
  const [ownMajor, ...ownLower] = process.versions.node.split('.').map(Number)
  if (major === ownMajor && (ownLower[0] > lower[0] || (ownLower[0] === lower[0] && ownLower[1] >= lower[1]))) return
  console.error(
    `tagwarden: no Node is locked for ${process.platform}-${process.arch}, and this one is ${process.version}: ` +
      `install Node ${pinned.version} or a newer ${major} from https://nodejs.org`,
  )
  process.exit(1)
}

function install(why) {
  console.error(`tagwarden: ${why}: running npm ci`)
  const failure = runNpmCi() ?? reasonToInstall()
  if (failure === null) return
  const hint = failure === NODE_MISSING ? '; does npm leave optional packages out (--omit=optional)?' : ''
  console.error(`tagwarden: npm ci did not succeed: ${failure}${hint}`)
  process.exit(1)
}

/** Why `npm ci` failed, or null. */
function runNpmCi() {
  const options = { cwd: repository, stdio: ['ignore', 2, 2] }
  const npm = process.env.npm_execpath
  // Use the Node that npm runs on. This process's own may be in the node_modules that `npm ci` deletes.
  const node = process.env.npm_node_execpath ?? process.execPath
  const args = ['ci', ...(needsDev ? ['--include=dev'] : []), '--loglevel=error']
  const { status, error } =
    npm !== undefined && basename(npm) === 'npm-cli.js'
      ? spawnSync(node, [npm, ...args], options)
      : spawnSync(['npm', ...args].join(' '), { ...options, shell: true })
  if (status === 0) return null
  return error?.message ?? `it ended with exit code ${status}, for the reason above`
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(repository + path, 'utf8'))
  } catch {
    return null
  }
}
