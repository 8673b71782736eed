/**
 * The docs site: `node scripts/site.ts dev`, `build` or `preview`. Its packages are installed separately, in `site/`, when they are missing
 * or differ from its lockfile. A build with a dead link or a first load over the limit fails.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstLoadOf, MOST_FIRST_LOAD, siteFaults } from './site-check.ts'

const SITE = join(import.meta.dirname, '../site')
const DIST = join(SITE, 'dist')

const [command = 'build', ...more] = process.argv.slice(2)
if (!['dev', 'build', 'preview'].includes(command)) fail(`"${command}" is none of dev, build and preview`)
if (!isInstalled()) {
  // All packages are development dependencies, which npm leaves out under NODE_ENV=production. Scripts are not needed: the platform's
  // binaries of esbuild and rollup are packages themselves.
  run('npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
}
run(process.execPath, [join(SITE, 'node_modules/vitepress/bin/vitepress.js'), command, ...more])
if (command === 'build') check()

function check(): void {
  const base = process.env.SITE_BASE ?? '/'
  const faults = siteFaults(DIST, base)
  for (const { page, problem } of faults) console.error(`${page}: ${problem}`)
  const { bytes, files } = firstLoadOf(DIST, 'index.html', base)
  console.log(
    `first load of the home page: ${(bytes / 1_000).toFixed(1)} kB compressed in ${files} files, without pictures`,
  )
  if (faults.length > 0) fail(`${faults.length} dead links`)
  if (bytes > MOST_FIRST_LOAD) fail(`the first load is over ${MOST_FIRST_LOAD / 1_000} kB`)
  console.log('0 dead links')
}

/** Whether exactly the locked packages are installed. */
function isInstalled(): boolean {
  const versions = (path: string): string | null => {
    try {
      const { packages } = JSON.parse(readFileSync(join(SITE, path), 'utf8')) as {
        packages: Record<string, { version?: string; integrity?: string; optional?: boolean }>
      }
      // Ignore optional packages, which are for other platforms.
      const own = Object.entries(packages).filter(([name, { optional }]) => name !== '' && optional !== true)
      return own.map(([name, { version, integrity }]) => `${name} ${version} ${integrity}`).join('\n')
    } catch {
      return null
    }
  }
  const locked = versions('package-lock.json')
  return locked !== null && locked === versions('node_modules/.package-lock.json')
}

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: SITE, stdio: 'inherit' })
  if (status !== 0) fail(`${program} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`)
}

function fail(why: string): never {
  console.error(`site: ${why}`)
  process.exit(1)
}
