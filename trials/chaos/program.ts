import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { until } from '../../testkit/api.ts'
import { freePort } from '../../testkit/listeners.ts'
import { PROGRAM } from '../../testkit/repository.ts'

const READY = /Tagwarden is ready on /
/** Of its output, for messages. */
const LINES_KEPT = 30
const STOP_PATIENCE_MS = 20_000

/** The real program as a process of its own, which is started again and again on the same port. */
export class Program {
  readonly url: string
  readonly #port: number
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #lines: string[] = []
  #child: ChildProcess | undefined
  #isReady = false

  private constructor(port: number, folder: string, environment: Readonly<Record<string, string>>) {
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
    this.#folder = folder
    this.#environment = environment
  }

  /** @param folder where it runs @param environment all of its settings but the port */
  static async on(folder: string, environment: Readonly<Record<string, string>>): Promise<Program> {
    return new Program(await freePort(), folder, environment)
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** What it wrote last. */
  get output(): string {
    return this.#lines.join('\n')
  }

  /** Starts it and waits until it listens; when it was started (as of `performance.now()`). @throws Error when it ends instead */
  async start(): Promise<number> {
    const startedAt = performance.now()
    this.launch()
    await until('the program is ready', () => {
      if (this.#isReady) return true
      if (!this.isRunning) throw new Error(`the program ended instead of starting:\n${this.output}`)
      return undefined
    })
    return startedAt
  }

  /** Starts it and does not wait. */
  launch(environment: Readonly<Record<string, string>> = {}): void {
    this.#isReady = false
    const child = spawn(process.execPath, [PROGRAM, 'serve'], {
      cwd: this.#folder,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: String(this.#port),
        DEFAULT_PLAN: 'enterprise',
        ...this.#environment,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        if (READY.test(line)) this.#isReady = true
        this.#lines.push(line)
        if (this.#lines.length > LINES_KEPT) this.#lines.shift()
      })
    }
  }

  /** Resolves with the exit code when it has ended, null when a signal ended it. */
  async ended(): Promise<number | null> {
    const child = this.#child
    if (child !== undefined && this.isRunning) await once(child, 'exit')
    return child?.exitCode ?? null
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.ended()
  }

  /** Asks it to end, and waits. @throws Error when it does not end well */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    this.#child?.kill('SIGTERM')
    const forced = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_PATIENCE_MS)
    const code = await this.ended()
    clearTimeout(forced)
    if (code !== 0) throw new Error(`the program did not stop as it should (exit code ${code}):\n${this.output}`)
  }
}
