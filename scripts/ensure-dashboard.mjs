/**
 * Builds the dashboard when its sources or packages have changed since the last build; silent when there is nothing to do. It runs
 * before `npm start` and `npm test`, after ensure-installed.mjs: plain JavaScript without dependencies, for any Node on the machine.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
const web = join(repository, 'web')
const dist = join(web, 'dist')
/** The file in the build that holds the fingerprint of its sources. */
const STAMP = '.made-of'

const wanted = fingerprint()
if (wanted !== readText(join(dist, STAMP))) ensure()

function ensure() {
  const node = join(repository, 'node_modules/.bin/node')
  const vite = join(repository, 'node_modules/vite/bin/vite.js')
  if (!existsSync(vite)) {
    // Most commands of the command line do not need the dashboard.
    if (process.env.npm_lifecycle_event === 'pretagwarden') return
    const what = existsSync(dist) ? 'is older than its sources' : 'is missing'
    console.error(`tagwarden: the dashboard ${what}; building it needs npm ci without --omit=dev`)
    return
  }
  const began = Date.now()
  // Build beside the old one, which a running service still serves; the process id keeps two builds at a time apart.
  const made = join(web, `.build-${process.pid}`)
  const { status, stdout, stderr } = spawnSync(
    existsSync(node) ? node : process.execPath,
    [vite, 'build', web, '--outDir', made, '--logLevel', 'warn'],
    { cwd: repository, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  )
  if (status !== 0) {
    rmSync(made, { recursive: true, force: true })
    console.error(`tagwarden: the dashboard cannot be built\n${stdout}${stderr}`)
    process.exit(1)
  }
  writeFileSync(join(made, STAMP), wanted)
  replace(made)
  console.error(`tagwarden: dashboard built in ${((Date.now() - began) / 1_000).toFixed(1)} s`)
}

function replace(made) {
  const old = join(web, `.build-${process.pid}-old`)
  mkdirSync(dist, { recursive: true })
  renameSync(dist, old)
  renameSync(made, dist)
  rmSync(old, { recursive: true, force: true })
}

/** A hash of everything that the build depends on. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of [...filesUnder(web), join(repository, 'package-lock.json')]) {
    hash.update(`${file.slice(repository.length)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && !name.startsWith('.') && !name.endsWith('.md'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesUnder(path) : [path]
    })
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
