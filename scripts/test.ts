/**
 * Runs the tests, or those whose paths begin with the arguments: `npm test -- test/store test/lib/loop.test.ts`.
 *
 * `node --test` starts a process for every file, and each loads the program again: 350 times half a second of processor time. Here files
 * share processes. Slow ones share theirs with fewer and start first, so that no core has to wait for one of them at the end.
 */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { globalSetup, globalTeardown } from '../testkit/global-setup.ts'
import { amount, TEST_TURN } from '../testkit/length.ts'
import { packLibraries } from '../testkit/processes/packed-libraries.ts'
import { PROGRAM_FOR_TESTS } from '../testkit/repository.ts'
import { programForTests } from './program-for-tests.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = '{test,bench,trials}/**/*.test.ts'
/**
 * Four more than cores, because many tests wait: with two more, a quarter of the processor time was idle. Capped, because PostgreSQL has
 * connections only for a few at a time.
 */
const CONCURRENCY = Math.min(availableParallelism(), 3) + 4
/** Files per process; with more, one that hangs or runs out of memory would take more others with it. */
const SHARED_BY = 36
/** Above this number of files, the program is started so often that bundling it pays. */
const MANY = 20
/** Prefixes of files that take seconds each, the longest first, and how many of them share a process. */
const SLOW: readonly (readonly [prefix: string, sharedBy: number])[] = [
  ['trials/test/chaos.test', 1],
  ['test/e2e/', 6],
  ['test/cli/demo/', 5],
  ['bench/test/healthy', 1],
  ['trials/test/', 13],
  ['test/system/', 11],
  ['test/cli/', 10],
  ['test/store/postgres/', 7],
  ['test/testkit/', 6],
]

/** Lines of an error that are printed at once. */
const LINES_OF_ERROR = 8
/** Number of folders and files listed at the end of a long run with their tests' time, including waiting for a core. */
const LONGEST = 15

/** A test that takes longer fails: nothing waits without limit. */
const TEST_LIMIT_MS = amount(15, 60) * 60_000

/** Lets no test process go on after its last test. */
const ENDING = pathToFileURL(join(ROOT, 'testkit/processes/ending.mjs')).href
/** Makes a whole run cheaper, but reports less about errors that no test catches. */
const UNTRACKED = pathToFileURL(join(ROOT, 'testkit/processes/untracked.mjs')).href

const rankOf = (file: string): number => {
  const rank = SLOW.findIndex(([prefix]) => file.startsWith(prefix))
  return rank === -1 ? SLOW.length : rank
}

/** Distributes files over processes of at most `most` files. */
function inTurns(files: readonly string[], most: number): string[][] {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, n) => files.filter((_file, at) => at % count === n))
}

/** The files of each process, slow ones first. */
function processesFor(files: readonly string[]): string[][] {
  const byRank = Map.groupBy(files, rankOf)
  const slow = SLOW.flatMap(([, sharedBy], rank) => inTurns(byRank.get(rank) ?? [], sharedBy))
  const others = byRank.get(SLOW.length) ?? []
  const count = Math.ceil(others.length / SHARED_BY)
  const shared = Array.from({ length: count }, (_, n) =>
    others.slice(Math.floor((n * others.length) / count), Math.floor(((n + 1) * others.length) / count)),
  )
  return [...slow, ...shared]
}

/** The longest times as text, s. */
const longest = (times: ReadonlyMap<string, number>): string =>
  Array.from(times)
    .sort(([, a], [, b]) => b - a)
    .slice(0, LONGEST)
    .map(([name, ms]) => `  ${(ms / 1_000).toFixed(0).padStart(5)} s  ${name}`)
    .join('\n')

/** The file that a process runs: a test file, or one that imports several. */
async function entryOf(files: readonly string[], number: number): Promise<string> {
  const [first = '', ...others] = files
  if (others.length === 0) return join(ROOT, first)
  const entry = join(folder, `${dirname(first).replaceAll('/', '-')}-${number}.mjs`)
  await writeFile(entry, files.map((file) => `import ${JSON.stringify(pathToFileURL(join(ROOT, file)))}\n`).join(''))
  return entry
}

/** The number by which tests take turns in a whole run, taken from the commit, so that a failure is reproducible. */
function turnOfCommit(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return String(Number.parseInt(commit.slice(0, 8), 16))
  } catch {
    // There is no commit, for example in an archive of the sources.
    return '0'
  }
}

const asked = process.argv.slice(2)
if (asked.length === 0) process.env[TEST_TURN] ??= turnOfCommit()
const all = globSync(FILES, { cwd: ROOT }).sort()
const files = asked.length === 0 ? all : all.filter((file) => asked.some((prefix) => file.startsWith(prefix)))
if (files.length === 0) {
  console.error(`no test file begins with ${asked.join(' or ')}`)
  process.exit(1)
}

// A compile cache saves half a second of processor time per load. Without it, each of several hundred processes and their threads would
// strip and compile the same sources.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

const environment = process.env.NODE_ENV
const folder = await mkdtemp(join(tmpdir(), 'tagwarden-tests-'))
try {
  // What is untracked comes before anything that imports the test runner.
  const imports = [...(asked.length === 0 ? ['--import', UNTRACKED] : []), '--import', ENDING]
  const execArgv = [...(await packLibraries()), ...imports]
  // Bundling costs as much as a dozen starts. A few files run the sources, which someone may be editing.
  if (files.length > MANY) process.env[PROGRAM_FOR_TESTS] ??= await programForTests()
  // Vite sets NODE_ENV to production, with which npm would leave out packages that a test may install.
  if (environment === undefined) delete process.env.NODE_ENV
  await globalSetup()
  const entries = await Promise.all(processesFor(files).map(entryOf))
  const events = run({ files: entries, concurrency: CONCURRENCY, cwd: ROOT, execArgv, timeout: TEST_LIMIT_MS })
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  // Print errors at once: the reporter does at the end, which may be half an hour away. A test that failed by its parts has no error itself.
  events.on('test:fail', ({ name, details: { error } }) => {
    if (!(error.cause instanceof Error)) return
    const lines = (error.cause.stack ?? error.cause.message).split('\n')
    const told = lines.filter((line) => line.trim() !== '' && !line.includes('node:internal/'))
    process.stderr.write(`FAILED: ${name}\n${told.slice(0, LINES_OF_ERROR).join('\n')}\n`)
  })
  const [ofFiles, ofFolders] = [new Map<string, number>(), new Map<string, number>()]
  const add = (times: Map<string, number>, name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms)
  for (const kind of ['test:pass', 'test:fail'] as const) {
    events.on(kind, ({ file: path, nesting, details: { duration_ms } }) => {
      if (path === undefined || nesting > 0) return
      const file = relative(ROOT, path)
      add(ofFiles, file, duration_ms)
      add(ofFolders, file.split('/').slice(0, 2).join('/'), duration_ms)
    })
  }
  for await (const text of events.compose(spec)) process.stdout.write(text as string)
  if (files.length > MANY) process.stdout.write(`longest:\n${longest(ofFolders)}\n${longest(ofFiles)}\n`)
  if (process.env[TEST_TURN] !== undefined) process.stdout.write(`run with ${TEST_TURN}=${process.env[TEST_TURN]}\n`)
} finally {
  await globalTeardown()
  await rm(folder, { recursive: true, force: true })
}
