import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM, PROGRAM_OF_SOURCES } from '../repository.ts'
import { until } from '../until.ts'
import { withPackedLibraries } from './packed-libraries.ts'

const STOP_TIMEOUT_MS = 60_000
const LOG_TAIL_CHARACTERS = 4_000

export interface ProcessOptions {
  /** For messages. */
  name: string
  /** Arguments of Node: the module and its own arguments. */
  args: readonly string[]
  /** The whole environment of the process; it inherits nothing. */
  environment?: Readonly<Record<string, string>>
  /** The working folder, in which a `.env` is looked for. */
  folder: string
  /** An existing folder for its output. A pipe would take our time to read, and block the process when we do not. */
  logFolder: string
  /** The core to which the process is pinned; null for any. */
  core?: number | null
  /** Whether to open a channel for calls (see `worker-calls.ts`). */
  isWorker?: boolean
}

/** A Node process that can be started repeatedly. The caller must end it. */
export class NodeProcess {
  protected readonly options: ProcessOptions
  #child: ChildProcess | undefined
  /** Offset at which the output of the last start begins. */
  #outFrom = 0

  constructor(options: ProcessOptions) {
    this.options = options
  }

  get child(): ChildProcess {
    if (this.#child === undefined) throw new Error(`${this.options.name} was not started`)
    return this.#child
  }

  get pid(): number {
    const { pid } = this.child
    if (pid === undefined) throw new Error(`${this.options.name} could not be started`)
    return pid
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The lines of its standard output, of all starts. */
  get out(): string[] {
    return linesOf(this.#read('out'))
  }

  get err(): string[] {
    return linesOf(this.#read('err'))
  }

  /** Its whole output. */
  get log(): string {
    return this.#read('out') + this.#read('err')
  }

  /** Starts it without waiting. @param environment additional settings */
  launch(environment: Readonly<Record<string, string>> = {}): void {
    const { args, core = null, folder, isWorker = false } = this.options
    // A bundle contains its libraries.
    const packed = args.includes(PROGRAM) && PROGRAM !== PROGRAM_OF_SOURCES ? [] : withPackedLibraries()
    const node = [process.execPath, ...packed, ...args]
    const [command = process.execPath, ...rest] = [...pinTo(core), ...node]
    this.#outFrom = sizeOf(this.#path('out'))
    const [out, err] = [openSync(this.#path('out'), 'a'), openSync(this.#path('err'), 'a')]
    this.#child = spawn(command, rest, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...this.options.environment, ...environment },
      stdio: isWorker ? ['ignore', out, err, 'ipc'] : ['ignore', out, err],
      // Passes binary data unchanged instead of as JSON.
      serialization: 'advanced',
    })
    for (const file of [out, err]) closeSync(file)
  }

  /** Resolves when a line of its output since the last start matches, with the first group or the whole match. */
  async printed(pattern: RegExp, ms?: number): Promise<string> {
    return until(`${this.options.name} prints a line like ${pattern}`, () => this.#findOrFail(pattern), ms)
  }

  /** The match that `printed` waits for; undefined if there is none yet. */
  protected find(pattern: RegExp): string | undefined {
    const whole = readFileSync(this.#path('out')).subarray(this.#outFrom).toString()
    // The last line may be incomplete.
    for (const line of linesOf(whole.slice(0, whole.lastIndexOf('\n') + 1))) {
      const match = pattern.exec(line)
      if (match !== null) return match[1] ?? match[0]
    }
    return undefined
  }

  #findOrFail(pattern: RegExp): string | undefined {
    const { isRunning } = this
    const found = this.find(pattern)
    if (found === undefined && !isRunning) throw new Error(this.state())
    return found
  }

  /** Whether it runs or how it ended, with its last output. */
  state(): string {
    const { name } = this.options
    if (this.#child === undefined) return `${name} was not started`
    const { signalCode, exitCode } = this.#child
    const how = this.isRunning ? 'still runs' : `ended with ${signalCode ?? `exit code ${exitCode}`}`
    return `${name} ${how}, last output:\n${this.log.trim().slice(-LOG_TAIL_CHARACTERS) || '(none)'}`
  }

  /** Resolves with the exit code when it has ended; null when a signal ended it. */
  async ended(): Promise<number | null> {
    if (this.isRunning) await once(this.child, 'exit')
    return this.#child?.exitCode ?? null
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const ended = this.ended()
    this.#child?.kill(signal)
    return ended
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL')
  }

  /** Asks it to end, kills it after `STOP_TIMEOUT_MS`, and resolves with the exit code. */
  async stop(): Promise<number | null> {
    const forced = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_TIMEOUT_MS)
    try {
      return await this.end('SIGTERM')
    } finally {
      clearTimeout(forced)
    }
  }

  #path(stream: 'out' | 'err'): string {
    return join(this.options.logFolder, `${this.options.name}.${stream}.log`)
  }

  #read(stream: 'out' | 'err'): string {
    return existsSync(this.#path(stream)) ? readFileSync(this.#path(stream), 'utf8') : ''
  }
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split(/\r?\n/))

// `taskset` replaces itself with the command, so the child's pid and channel are those of the pinned process.
const pinTo = (core: number | null): string[] => (core === null ? [] : ['taskset', '-c', String(core)])

/** The core of the server under load, and the core of the load generator and the report reader. */
export interface Pinning {
  server: number | null
  client: number | null
}

export const pinning = (): Pinning =>
  canPin(0) && canPin(1) ? { server: 0, client: 1 } : { server: null, client: null }

/** Whether processes can be pinned to this core here. */
const canPin = (core: number): boolean => spawnSync('taskset', ['-c', String(core), 'true']).status === 0
