import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { tempDir } from './engines.ts'
import { madeOnce } from './made-once.ts'
import { startCli } from './processes/command-line.ts'
import { READY, type ServerProcess } from './processes/server-process.ts'
import type { Session } from './processes/session.ts'
import { PROGRAM } from './repository.ts'

/** The command line of a demo without live traffic, on a folder. */
export const demoIn = (dataDir: string, days = 2, port = 0): string[] =>
  `demo --port ${port} --days ${days} --no-simulate --data-dir`.split(' ').concat(dataDir)

/** The demo of a bench. */
export const startDemo = (session: Session, dataDir: string, days: number): Promise<ServerProcess> =>
  session.startServer('demo', (port) => ({
    args: [PROGRAM, ...demoIn(dataDir, days, port)],
    environment: { HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
  }))

/**
 * A folder in which a demo of two days was started and ended, for the test alone. Writing two days and judging them takes a quarter
 * of a minute of a processor; a demo that is started on this continues from there in seconds.
 */
export async function preparedDemo(t: TestContext): Promise<string> {
  const dataDir = await tempDir(t)
  await cp(await madeOnce('demo', (folder) => writeDemo(t, folder)), dataDir, { recursive: true })
  return dataDir
}

async function writeDemo(t: TestContext, dataDir: string): Promise<void> {
  const { child, printed, finished } = await startCli(t, demoIn(dataDir))
  await printed(READY)
  child.kill('SIGTERM')
  const { code, err } = await finished
  assert.equal(code, 0, err.join('\n'))
}
