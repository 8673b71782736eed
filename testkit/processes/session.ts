import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { asError, Closers } from '../../src/lib/index.ts'
import { freePort } from '../listeners.ts'
import { PROGRAM, REPOSITORY } from '../repository.ts'
import { NodeProcess, type Pinning, type ProcessOptions, pinning } from './node-process.ts'
import { ServerProcess, serve } from './server-process.ts'
import { type Calls, type Remote, remote } from './worker-calls.ts'

// Beside the code and not in the system's temporary folder, which is often memory: commits must wait for a real disk.
const WORK_FOLDER = join(REPOSITORY, '.work')

type Command = Pick<ProcessOptions, 'args' | 'environment'>

/** One run of a benchmark or a trial: its folder, its worker processes, and everything it started, which ends with it. */
export class Session {
  readonly folder: string
  readonly pins: Pinning = pinning()
  readonly closers = new Closers()
  /** What belongs to the step under way: servers and their data. */
  readonly #step = new Closers()
  /** Workers that stay for the session. */
  readonly #kept = new Map<string, NodeProcess>()
  #servers: NodeProcess[] = []
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
   * Runs one part and ends the servers it started.
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

  /** Starts a server on the servers' core, which ends with the step, and waits until it answers. */
  async startServer(name: string, command: (port: number) => Command): Promise<ServerProcess> {
    const port = await freePort()
    const folder = this.newFolder(name)
    const { server: core } = this.pins
    const server = new ServerProcess({ ...command(port), name, port, core, folder, logFolder: folder })
    this.#endWith(this.#step, server)
    this.#servers.push(server)
    await server.start()
    return server
  }

  /** Starts a process on the client's core that answers calls (see `worker-calls.ts`) and ends with the step. */
  startWorker<C extends Calls>(name: string, path: string): Remote<C> {
    const worker = this.#newWorker(name, path, this.newFolder(name))
    this.#endWith(this.#step, worker)
    this.#servers.push(worker)
    worker.launch()
    return remote<C>(worker)
  }

  /** The same for all steps: one process for each name. */
  keptWorker<C extends Calls>(name: string, path: string): Remote<C> {
    let worker = this.#kept.get(name)
    if (worker === undefined) {
      worker = this.#newWorker(name, path, this.folder)
      this.#endWith(this.closers, worker)
      worker.launch()
      this.#kept.set(name, worker)
    }
    return remote<C>(worker)
  }

  /** Ends everything; a second call waits for the same end. */
  async close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    await this.#closing
  }

  async #closeAll(): Promise<void> {
    await this.#step.closeAll()
    await this.closers.closeAll()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #newWorker(name: string, path: string, folder: string): NodeProcess {
    return new NodeProcess({ name, args: [path], core: this.pins.client, folder, logFolder: folder, isWorker: true })
  }

  #endWith(closers: Closers, process: NodeProcess): void {
    if (this.isClosing) throw new Error('the run is being stopped')
    closers.add(async () => {
      await process.stop()
    })
  }
}

/** Tagwarden on `dataDir`, or with the settings given, as `npm start` starts it there. @param checkout another folder of its sources */
export const startTagwarden = (
  session: Session,
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
  checkout = REPOSITORY,
): Promise<ServerProcess> =>
  session.startServer('tagwarden', (port) => {
    const program = serve({
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '2',
      ...environment,
    })
    const path = checkout === REPOSITORY ? PROGRAM : join(checkout, 'bin/tagwarden.mjs')
    return { ...program, args: [...flagsOf(checkout), path, 'serve'] }
  })

const PACKAGE = Type.Object({ scripts: Type.Object({ start: Type.String() }) })

/** What its `npm start` gives Node: the memory that it asks for. */
function flagsOf(checkout: string): readonly string[] {
  const { scripts } = Value.Parse(PACKAGE, JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')))
  return scripts.start.match(/--\S+/g) ?? []
}

/**
 * Runs a benchmark or a trial; whatever it started is stopped at its end, on an error and on Ctrl-C too. An error becomes its
 * message and exit code 1.
 */
export async function runSession(work: (session: Session) => Promise<void>): Promise<void> {
  const session = new Session()
  const interrupt = (): void => {
    process.stderr.write('\nstopping what was started\n')
    void session.close().finally(() => process.exit(130))
  }
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    await work(session)
  } catch (thrown) {
    // While stopping, whatever was under way fails because its servers are gone.
    if (!session.isClosing) process.stderr.write(`${asError(thrown).message}\n`)
    process.exitCode = 1
  } finally {
    await session.close()
  }
}
