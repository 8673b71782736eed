/**
 * Loaded first by every test process: each test runs all of its clean-ups, and the process ends with its last test.
 *
 * `node:test` runs no further `after` hook when one has thrown. Servers that the others would have closed then kept the process alive, and the
 * run waited for it without limit.
 */
import { readFileSync } from 'node:fs'
import { afterEach, before, beforeEach } from 'node:test'
import { isMainThread } from 'node:worker_threads'

/** How long a process may go on while no test runs: longer than a clean-up waits for anything (`PATIENCE_MS` of `until`). */
const GRACE_MS = Number(process.env.TEST_GRACE_MS ?? 240_000)

/** Tests that run now. The runner's own end would not do: it comes early where one of several files awaits something before its first test. */
let running = 0
let timer

// A thread has the options of its process, and no tests.
if (isMainThread) {
  before(runAllCleanUps)
  beforeEach(begin)
  afterEach(end)
}

function runAllCleanUps(context) {
  const prototype = Object.getPrototypeOf(context)
  const { after: addHook } = prototype
  const cleanUpsOf = new WeakMap()
  prototype.after = function (cleanUp) {
    const cleanUps = cleanUpsOf.get(this) ?? []
    cleanUps.push(cleanUp)
    if (cleanUps.length > 1) return
    cleanUpsOf.set(this, cleanUps)
    addHook.call(this, () => runAll(cleanUps, this))
  }
}

/** Runs all, those that one of them adds too, and throws the first error. */
async function runAll(cleanUps, context) {
  const errors = []
  for (const cleanUp of cleanUps) {
    try {
      await cleanUp(context)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

function begin() {
  running += 1
  clearTimeout(timer)
}

function end() {
  running -= 1
  // The timer keeps nothing alive itself, so it fires only when something else does.
  if (running === 0) timer = setTimeout(giveUp, GRACE_MS).unref()
}

function giveUp() {
  const [, entry = ''] = process.argv
  const files = readFileSync(entry, 'utf8').match(/(?<=file:\/\/)[^"]+\.test\.ts/g) ?? [entry]
  const open = process.getActiveResourcesInfo().join(', ')
  console.error(`FAILED: ${files.join(', ')} still open ${GRACE_MS / 1_000} s after the last test: ${open}`)
  process.exit(1)
}
