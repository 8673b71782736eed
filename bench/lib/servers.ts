import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../testkit/listeners.ts'
import { hasEnded, type RunningProcess } from './processes.ts'
import type { Session } from './session.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const START_TIMEOUT_MS = 60_000
const POLL_INTERVAL_MS = 50

export interface RunningServer extends RunningProcess {
  port: number
  url: string
}

/** The bare `node:http` + `JSON.parse` server. */
export async function startBare(session: Session): Promise<RunningServer> {
  return await startServer(session, 'bare', (port) => ({
    args: [join(ROOT, 'bench/baseline/server.ts'), String(port)],
  }))
}

/** The server that answers without looking. */
export async function startAnswerer(session: Session): Promise<RunningServer> {
  return await startServer(session, 'answerer', (port) => ({
    args: [join(ROOT, 'bench/baseline/answerer.ts'), String(port)],
  }))
}

/** Tagwarden on `dataDir`, or with the settings given, as `npm start` starts it. */
export async function startTagwarden(
  session: Session,
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  return await startServer(session, 'tagwarden', (port) => ({
    args: ['--max-old-space-size=1536', '--max-semi-space-size=32', join(ROOT, 'bin/tagwarden.mjs'), 'serve'],
    environment: {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      DEFAULT_PLAN: 'enterprise',
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '2',
      ...environment,
    },
  }))
}

/** The demo in `dataDir`, with its past written and without live traffic. */
export async function startDemo(session: Session, dataDir: string, days: number): Promise<RunningServer> {
  return await startServer(session, 'demo', (port) => ({
    args: [
      join(ROOT, 'bin/tagwarden.mjs'),
      ...['demo', '--no-simulate', '--days', String(days), '--port', String(port), '--data-dir', dataDir],
    ],
    environment: { HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
  }))
}

interface Command {
  args: string[]
  environment?: Record<string, string>
}

/** Resolves when the server answers `GET /ready` with 200. @throws Error when it does not. */
async function startServer(session: Session, name: string, command: (port: number) => Command): Promise<RunningServer> {
  const port = await freePort()
  const folder = session.newFolder(name)
  const running = session.startServer({
    ...command(port),
    name,
    core: session.pins.server,
    folder,
    logPath: join(folder, 'output.log'),
  })
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await isReady(url))) {
    if (hasEnded(running.child)) throw new Error(`${name} did not start`)
    if (Date.now() > deadline) throw new Error(`${name} is not ready after a minute`)
    await sleep(POLL_INTERVAL_MS)
  }
  return { ...running, port, url }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`)
    await response.text()
    return response.status === 200
  } catch {
    return false // Not listening yet.
  }
}
