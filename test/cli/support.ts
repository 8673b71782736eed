import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { until } from '../../testkit/api.ts'
import { tempDir } from '../../testkit/engines.ts'

const CLI = join(import.meta.dirname, '../../bin/tagwarden.mjs')
/** The demo writes three weeks and judges them before it is ready: half a minute of a machine that does nothing else. */
const START_MS = 180_000

export interface Finished {
  code: number | null
  out: string[]
  err: string[]
}

export interface Running {
  child: ChildProcess
  out: string[]
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
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: await tempDir(t),
  })
  t.after(() => child.kill('SIGKILL'))
  const out: string[] = []
  const err: string[] = []
  createInterface(child.stdout).on('line', (line) => out.push(line))
  createInterface(child.stderr).on('line', (line) => err.push(line))
  // `close` comes when the pipes are at their end, too; `exit` may come before the last lines.
  const finished = once(child, 'close').then(() => ({ code: child.exitCode, out, err }))
  const printed = (pattern: RegExp) =>
    until(
      `a line like ${pattern}`,
      () => {
        const found = out.map((line) => pattern.exec(line)?.[1]).find((match) => match !== undefined)
        if (found === undefined && child.exitCode !== null) throw new Error(`it ended: ${[...out, ...err].join('\n')}`)
        return found
      },
      START_MS,
    )
  return { child, out, printed, finished }
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
