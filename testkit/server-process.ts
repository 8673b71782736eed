import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { until } from './api.ts'
import { PROGRAM } from './repository.ts'

export interface ServerProcess {
  url: string
  child: ChildProcess
  /** Resolves when the program has logged a line that matches. */
  logged: (pattern: RegExp) => Promise<string>
  /** Sends the signal and resolves with the exit code (null when the signal ended the process). */
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Starts the real program as a process of its own, on a random port, and waits until it is ready. */
export async function startServerProcess(
  t: TestContext,
  dataDir: string,
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, DEFAULT_PLAN: 'enterprise', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dataDir,
  })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  createInterface(child.stderr).on('line', (line) => lines.push(line))
  const logged = (pattern: RegExp) =>
    until(`a log line like ${pattern}`, () => {
      const line = lines.find((candidate) => pattern.test(candidate))
      if (line === undefined && child.exitCode !== null) throw new Error(`the program ended: ${lines.join('\n')}`)
      return line
    })
  const url = READY.exec(await logged(READY))?.[1] ?? ''
  return {
    url,
    child,
    logged,
    async end(signal) {
      child.kill(signal)
      await exited
      return child.exitCode
    },
  }
}

const READY = /Tagwarden is ready on (http:\/\/[^"\s]+)/
