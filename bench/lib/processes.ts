import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const STOP_TIMEOUT_MS = 15_000
const LOG_TAIL_CHARACTERS = 2_000

export interface StartOptions {
  /** For messages. */
  name: string
  /** Arguments of node: the module and what it is given. */
  args: readonly string[]
  /** The core the process may run on; null for any. */
  core: number | null
  /** All of the process's settings: nothing of the benchmark's own environment reaches it. */
  environment?: Readonly<Record<string, string>>
  /** The process's folder; where a `.env` file would be looked for. */
  folder: string
  /** Its output goes here. */
  logPath: string
  /** Opens a channel for `callWorker`. */
  worker?: boolean
}

export interface RunningProcess {
  child: ChildProcess
  pid: number
  /** Whether it runs or how it ended, and what it has written last. */
  state(): string
  /** Asks it to end, makes it after a while, and resolves when it is gone. */
  stop(): Promise<void>
}

/** Starts Node with `options`. The caller stops what it starts. */
export function startProcess(options: StartOptions): RunningProcess {
  const [command = process.execPath, ...args] = [...pinTo(options.core), process.execPath, ...options.args]
  const log = openSync(options.logPath, 'a')
  const child = spawn(command, args, {
    cwd: options.folder,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...options.environment },
    stdio: options.worker ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    // Binary data crosses as it is, instead of as JSON.
    serialization: 'advanced',
  })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error(`${command} could not be started`)
  return {
    child,
    pid,
    state: () => {
      const ended = `ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`
      const log = readFileSync(options.logPath, 'utf8').trim().slice(-LOG_TAIL_CHARACTERS)
      return `${options.name} ${hasEnded(child) ? ended : 'still runs'}, last output:\n${log || '(none)'}`
    },
    stop: () => stopChild(child),
  }
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

async function stopChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = new AbortController()
  const forced = sleep(STOP_TIMEOUT_MS, undefined, { signal: patience.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  await exit
  patience.abort()
  await forced
}

// taskset replaces itself by the command, so the child's pid and channel are those of the pinned process.
const pinTo = (core: number | null): string[] => (core === null ? [] : ['taskset', '-c', String(core)])

/** Whether processes can be pinned to this core here. */
export function canPin(core: number): boolean {
  return spawnSync('taskset', ['-c', String(core), 'true']).status === 0
}
