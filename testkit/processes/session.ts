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

// Not in the system's temporary folder, which is often in memory: commits must wait for a real disk.
const WORK_FOLDER = join(REPOSITORY, '.work')

type Command = Pick<ProcessOptions, 'args' | 'environment'>

/** One run of a benchmark or trial, with its folder and the processes that it started, which end with it. */
export class Session {
  readonly folder: string
  readonly pins: Pinning = pinning()
  readonly closers = new Closers()
  /** The servers and data of the current step. */
  readonly #step = new Closers()
  /** Workers that live as long as the session. */
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
   * @throws Error the part's error, with the state of its servers
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

  /** A new empty folder that is removed with the step. */
  newFolder(name: string): string {
    this.#folders += 1
    const folder = join(this.folder, `${this.#folders}-${name}`)
    mkdirSync(folder)
    this.#step.add(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** Starts a server on the servers' core and waits until it answers. It ends with the step. */
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

  /** The same for all steps, with one process per name. */
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

  /** Ends everything; further calls wait for the same end. */
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

/** Starts Tagwarden on `dataDir`, or with the given settings, as `npm start` does. @param checkout another folder of its sources */
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

/** The Node options of its `npm start`, such as the memory limit. */
function flagsOf(checkout: string): readonly string[] {
  const { scripts } = Value.Parse(PACKAGE, JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')))
  return scripts.start.match(/--\S+/g) ?? []
}

/**
 * Runs a benchmark or trial and stops everything it started at its end, also on an error or Ctrl-C. An error is printed as its message,
 * with exit code 1.
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
    // While stopping, errors are expected, because the servers are gone.
    if (!session.isClosing) process.stderr.write(`${asError(thrown).message}\n`)
    process.exitCode = 1
  } finally {
    await session.close()
  }
}
