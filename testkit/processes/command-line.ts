import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { tempDir } from '../engines.ts'
import { PROGRAM } from '../repository.ts'
import { NodeProcess } from './node-process.ts'

/** Generous, because the demo writes and judges its history first, which takes a minute even on an idle machine. */
const START_MS = 400_000

export interface Finished {
  code: number | null
  out: string[]
  err: string[]
}

export interface Running {
  child: ChildProcess
  readonly out: string[]
  /** Resolves with the first group of `pattern` once a line of standard output matches. */
  printed: (pattern: RegExp) => Promise<string>
  finished: Promise<Finished>
}

/**
 * Starts the command line in an empty folder with only the given settings. Lines come without line ends.
 *
 * @param program `PROGRAM_OF_SOURCES` for tests that replace its libraries, which a bundle contains
 */
export async function startCli(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
  program = PROGRAM,
): Promise<Running> {
  const running = new NodeProcess({
    name: 'tagwarden',
    args: [program, ...args],
    environment,
    folder: await tempDir(t),
    logFolder: await tempDir(t),
  })
  running.launch()
  t.after(() => running.kill())
  return {
    child: running.child,
    get out() {
      return running.out
    },
    printed: (pattern) => running.printed(pattern, START_MS),
    finished: running.ended().then((code) => ({ code, out: running.out, err: running.err })),
  }
}

/** Runs the command line to its end. */
export async function runCli(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Finished> {
  const { finished } = await startCli(t, args, environment)
  return finished
}
