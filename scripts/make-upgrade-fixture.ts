/**
 * Makes the fixture of the upgrade tests: a store of a released version and that version's answers about it, in
 * `test/upgrade/fixtures/<version>`. Run once for each release, when it is tagged. Never regenerate a fixture to make a test pass.
 *
 *     node scripts/make-upgrade-fixture.ts 0.1.0 bc2ebaa6
 *
 * The store is made by the code of that commit, in its own checkout and with its locked packages.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const REPOSITORY = join(import.meta.dirname, '..')
/** The files that fill a store. A release older than these gets today's, which need nothing that 0.1.0 lacks. */
const FILLER = ['testkit/upgrade', 'testkit/questions.ts']
/** The largest window, because repetitions are far apart in both files. */
const WHOLE = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } }
/** Maximum size of a version's two compressed files. */
const MOST_BYTES = 300_000

const [version, commit] = process.argv.slice(2)
if (version === undefined || commit === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
  console.error('Usage: node scripts/make-upgrade-fixture.ts <version> <commit>')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'tagwarden-upgrade-'))
const checkout = join(folder, 'checkout')
const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, stdio: 'inherit' })
try {
  run('git', ['worktree', 'add', '--detach', checkout, commit], REPOSITORY)
  run('npm', ['ci', '--ignore-scripts'], checkout)
  for (const path of FILLER) {
    if (!existsSync(join(checkout, path))) cpSync(join(REPOSITORY, path), join(checkout, path), { recursive: true })
  }
  const store = join(folder, 'store')
  run(join(checkout, 'node_modules/.bin/node'), ['testkit/upgrade/fill-store.ts', store], checkout)
  keep(store, join(REPOSITORY, 'test/upgrade/fixtures', version))
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', checkout], { cwd: REPOSITORY })
  rmSync(folder, { recursive: true, force: true })
}

function keep(store: string, target: string): void {
  mkdirSync(target, { recursive: true })
  let bytes = 0
  for (const name of ['tagwarden.db', 'answers.json']) {
    const packed = brotliCompressSync(readFileSync(join(store, name)), WHOLE)
    writeFileSync(join(target, `${name}.br`), packed)
    console.log(`${name}.br: ${packed.length} bytes`)
    bytes += packed.length
  }
  if (bytes > MOST_BYTES) throw new Error(`${bytes} bytes are more than ${MOST_BYTES}: let the store hold less`)
}
