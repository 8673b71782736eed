import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { tempDir } from '../engines.ts'
import { PROGRAM } from '../repository.ts'
import { NodeProcess } from './node-process.ts'

/** The demo writes three weeks and judges them before it is ready: a minute of a machine that does nothing else. */
const START_MS = 400_000

export interface Finished {
  code: number | null
  out: string[]
  err: string[]
}

export interface Running {
  child: ChildProcess
  readonly out: string[]
  /** Resolves with what the first group of `pattern` matched in a line of standard output. */
  printed: (pattern: RegExp) => Promise<string>
  finished: Promise<Finished>
}

/** Starts the command line in an empty folder with no setting but those given. Lines come without line ends. */
export async function startCli(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Running> {
  const program = new NodeProcess({
    name: 'tagwarden',
    args: [PROGRAM, ...args],
    environment,
    folder: await tempDir(t),
    logFolder: await tempDir(t),
  })
  program.launch()
  t.after(() => program.kill())
  return {
    child: program.child,
    get out() {
      return program.out
    },
    printed: (pattern) => program.printed(pattern, START_MS),
    finished: program.ended().then((code) => ({ code, out: program.out, err: program.err })),
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
