import type { TestContext } from 'node:test'
import { tempDir } from '../engines.ts'
import { freePort } from '../listeners.ts'
import { PROGRAM } from '../repository.ts'
import { until } from '../until.ts'
import { NodeProcess, type ProcessOptions } from './node-process.ts'

/** The log line of a program that listens, with its address. */
export const READY = /Tagwarden is ready on (http:\/\/[^"\s]+)/

interface ServerOptions extends ProcessOptions {
  /** Its port, for one whose log may not say so; 0 for any port, which it logs. */
  port: number
}

/** A server in a process, usually the real program. */
export class ServerProcess extends NodeProcess {
  readonly #port: number
  #url: string | undefined

  constructor({ port, ...options }: ServerOptions) {
    super(options)
    this.#port = port
    if (port !== 0) this.#url = `http://127.0.0.1:${port}`
  }

  /** The program in `folder` with these settings, on the same port for each start; not started yet. */
  static async on(folder: string, environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const port = await freePort()
    return new ServerProcess({ ...serve({ PORT: String(port), ...environment }), folder, logFolder: folder, port })
  }

  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.options.name} does not listen yet`)
    return this.#url
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Starts it, waits until it is ready, and returns when it was started, by `performance.now()`. @throws Error when it ends instead */
  async start(): Promise<number> {
    const startedAt = performance.now()
    this.launch()
    await until(`${this.options.name} is ready`, async () => {
      const { isRunning } = this
      const logged = this.find(READY)
      if (logged !== undefined) this.#url = logged
      if (logged !== undefined || (this.#port !== 0 && (await isReady(this.url)))) return true
      if (!isRunning) throw new Error(this.state())
      return undefined
    })
    return startedAt
  }
}

/** The program's command and settings. */
export const serve = (environment: Readonly<Record<string, string>>) => ({
  name: 'tagwarden',
  args: [PROGRAM, 'serve'],
  environment: { HOST: '127.0.0.1', DEFAULT_PLAN: 'enterprise', CONNECTION_CHECK_URLS: 'off', ...environment },
})

/** Starts the program for a test, on a free port unless the environment sets one, and waits until it is ready. */
export async function startServerProcess(
  t: TestContext,
  dataDir: string,
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  const { PORT = '0' } = environment
  const server = new ServerProcess({
    ...serve({ DATA_DIR: dataDir, ...environment, PORT }),
    folder: dataDir,
    logFolder: await tempDir(t),
    port: Number(PORT),
  })
  t.after(() => server.kill())
  await server.start()
  return server
}

/** Whether a service answers `GET /ready` with 200. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`)
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false // Not listening.
  }
}
