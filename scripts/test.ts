/**
 * Runs the tests, or those whose paths begin with the arguments: `npm test -- test/store test/lib/loop.test.ts`.
 *
 * `node --test` gives every file a process, and each loads the program again: 350 times half a second of a processor. Here files of
 * one folder share processes. The slow ones keep their own and come first, so that no core waits for one of them at the end.
 */
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { globalSetup, globalTeardown } from '../testkit/global-setup.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = '{test,bench,trials}/**/*.test.ts'
/** Four more than cores, as many a test waits: with two more a quarter of the processor time was idle. PostgreSQL has connections for a few at a time only. */
const CONCURRENCY = Math.min(availableParallelism(), 3) + 4
/** Files of a process; with more, one that hangs or runs out of memory takes more along. */
const SHARED_BY = 12
/** Where files take seconds each, of work or of waiting; the longest first. */
const SLOW = [
  'trials/test/chaos.test',
  'test/notifications/crash',
  'test/e2e/',
  'test/cli/demo/demo.test',
  'bench/test/healthy',
  'trials/test/bloated-site',
  'trials/test/fairness',
  'trials/test/fuzz.test',
  'trials/test/overload',
  'trials/test/pressure.test',
  'trials/test/soak',
  'test/cli/demo/embedded',
  'test/cli/demo/history',
  'test/cli/demo/results',
  'test/cli/demo/slow-start',
  'test/system/',
  'test/cli/backtest',
  'test/cli/backup',
  'test/cli/doctor',
  'test/cli/migrate',
  'test/cli/send',
  'test/cli/serve',
  'test/cli/thread-death',
  'test/store/postgres/',
  'test/testkit/',
]

/** Of these, a few share a process: loading the program, a browser and the first start of a service cost each two seconds. */
const SLOW_SHARED_BY: Readonly<Record<string, number>> = { 'test/e2e/': 3, 'test/system/': 3 }

const rankOf = (file: string): number => {
  const rank = SLOW.findIndex((prefix) => file.startsWith(prefix))
  return rank === -1 ? SLOW.length : rank
}

/** Deals the files out to processes of at most so many. */
function inTurns(files: readonly string[], most: number): string[][] {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, n) => files.filter((_file, at) => at % count === n))
}

/** The files of each process. */
function processesFor(files: readonly string[]): string[][] {
  const slow = files.filter((file) => rankOf(file) < SLOW.length).sort((a, b) => rankOf(a) - rankOf(b))
  const folders = Map.groupBy(
    files.filter((file) => !slow.includes(file)),
    dirname,
  )
  const shared = [...folders.values()].flatMap((ofFolder) => inTurns(ofFolder, SHARED_BY))
  const slowOnes = [...Map.groupBy(slow, rankOf)].flatMap(([rank, ofRank]) =>
    inTurns(ofRank, SLOW_SHARED_BY[SLOW[rank] ?? ''] ?? 1),
  )
  return [...slowOnes, ...shared.sort((a, b) => b.length - a.length)]
}

/** What a process runs: a test file, or one that imports several. */
async function entryOf(files: readonly string[], number: number): Promise<string> {
  const [first = '', ...others] = files
  if (others.length === 0) return join(ROOT, first)
  const entry = join(folder, `${dirname(first).replaceAll('/', '-')}-${number}.mjs`)
  await writeFile(entry, files.map((file) => `import ${JSON.stringify(pathToFileURL(join(ROOT, file)))}\n`).join(''))
  return entry
}

const asked = process.argv.slice(2)
const all = globSync(FILES, { cwd: ROOT }).sort()
const files = asked.length === 0 ? all : all.filter((file) => asked.some((prefix) => file.startsWith(prefix)))
if (files.length === 0) {
  console.error(`no test file begins with ${asked.join(' or ')}`)
  process.exit(1)
}

// Loading the program takes half a second of a processor less where its compiled form is found: each of several hundred processes,
// and each thread of theirs, would strip and compile the same sources.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

const folder = await mkdtemp(join(tmpdir(), 'tagwarden-tests-'))
try {
  await globalSetup()
  const entries = await Promise.all(processesFor(files).map(entryOf))
  const events = run({ files: entries, concurrency: CONCURRENCY, cwd: ROOT })
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  for await (const text of events.compose(spec)) process.stdout.write(text as string)
} finally {
  await globalTeardown()
  await rm(folder, { recursive: true, force: true })
}
