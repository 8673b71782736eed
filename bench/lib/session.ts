import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asError, Closers } from '../../src/lib/index.ts'
import type { LoadPlan, LoadResult } from './http-load.ts'
import { type Pinning, pinning } from './machine.ts'
import { type RunningProcess, type StartOptions, startProcess } from './processes.ts'
import type { ReportPlan, ReportResult } from './report-reader.ts'
import { callWorker } from './worker-calls.ts'

// Beside the code and not in the system's temporary folder, which is often memory: commits must wait for a real disk.
const WORK_FOLDER = join(import.meta.dirname, '..', '.work')

/** One run of a benchmark: its folder, its worker processes, and everything it started, which ends with it. */
export class Session {
  readonly folder: string
  readonly pins: Pinning = pinning()
  readonly #workers = new Closers()
  /** What belongs to the step under way: servers and their data. */
  readonly #step = new Closers()
  #loadWorker: RunningProcess | undefined
  #reportWorker: RunningProcess | undefined
  #servers: RunningProcess[] = []
  #folders = 0
  #closing: Promise<void> | undefined

  constructor() {
    mkdirSync(WORK_FOLDER, { recursive: true })
    this.folder = mkdtempSync(join(WORK_FOLDER, 'run-'))
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /**
   * Runs one part of the benchmark and ends the servers it started.
   *
   * @throws Error what the part threw, with what became of its servers.
   */
  async step<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      const lines = [asError(thrown).message, ...this.#servers.map((server) => server.state())]
      throw new Error(lines.join('\n'), { cause: thrown })
    } finally {
      this.#servers = []
      await this.#step.closeAll()
    }
  }

  /** A new empty folder that goes with the step. */
  newFolder(name: string): string {
    this.#folders += 1
    const folder = join(this.folder, `${this.#folders}-${name}`)
    mkdirSync(folder)
    this.#step.add(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** Starts a process that ends with the step. @throws Error once the session is ending. */
  startServer(options: StartOptions): RunningProcess {
    const server = this.#start(this.#step, options)
    this.#servers.push(server)
    return server
  }

  /** Starts a process on the client's core that answers calls (see `worker-calls.ts`) and ends with the step. */
  startWorker(name: string, path: string): RunningProcess {
    const folder = this.newFolder(name)
    return this.startServer({
      name,
      args: [path],
      core: this.pins.client,
      folder,
      logPath: join(folder, 'output.log'),
      worker: true,
    })
  }

  /** Runs a load on the client's core. */
  async load(plan: LoadPlan): Promise<LoadResult> {
    this.#loadWorker ??= this.#startOwnWorker('load-worker.ts')
    return await callWorker<LoadPlan, LoadResult>(this.#loadWorker, plan)
  }

  /** Reads reports from the client's core. */
  async readReports(plan: ReportPlan): Promise<ReportResult> {
    this.#reportWorker ??= this.#startOwnWorker('report-worker.ts')
    return await callWorker<ReportPlan, ReportResult>(this.#reportWorker, plan)
  }

  /** Ends everything; a second call waits for the same end. */
  async close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    await this.#closing
  }

  async #closeAll(): Promise<void> {
    await this.#step.closeAll()
    await this.#workers.closeAll()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #startOwnWorker(file: string): RunningProcess {
    return this.#start(this.#workers, {
      name: file,
      args: [join(import.meta.dirname, file)],
      core: this.pins.client,
      folder: this.folder,
      logPath: join(this.folder, `${file}.log`),
      worker: true,
    })
  }

  #start(closers: Closers, options: StartOptions): RunningProcess {
    if (this.isClosing) throw new Error('the benchmark is being stopped')
    const running = startProcess(options)
    closers.add(() => running.stop())
    return running
  }
}

/**
 * Runs a benchmark; whatever it started is stopped at its end, on an error and on Ctrl-C too. An error becomes its
 * message and exit code 1.
 */
export async function runSession(benchmark: (session: Session) => Promise<void>): Promise<void> {
  const session = new Session()
  const interrupt = (): void => {
    process.stderr.write('\nstopping what was started\n')
    void session.close().finally(() => process.exit(130))
  }
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    await benchmark(session)
  } catch (thrown) {
    // While stopping, whatever was under way fails because its servers are gone.
    if (!session.isClosing) process.stderr.write(`${asError(thrown).message}\n`)
    process.exitCode = 1
  } finally {
    await session.close()
  }
}
