import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { prepareDemo, serveDemo } from '../../../src/cli/demo/run.ts'
import { readConfig } from '../../../src/config.ts'
import { type Clock, DAY } from '../../../src/lib/index.ts'
import { connectWithoutThread } from '../../../src/store/index.ts'
import { type ApiClient, apiClient, bearer } from '../../../testkit/api.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { madeOnce } from '../../../testkit/made-once.ts'
import { clock, clockBefore } from './clock.ts'
import { ensureDashboard } from './dashboard.ts'
import { takePort } from './service.ts'

/** A running demo: two clients, four sites, two days of history up to now, an incident under way, probes that have run. */
export interface Demo extends ApiClient {
  sites: { id: string; client_id: string; name: string; ingest_key: string }[]
}

/**
 * Starts the demo, without live traffic: what a test does not send does not come. It ends with the test.
 *
 * @param environment its settings, e.g. `ADMIN_TOKEN`
 * @param token sent by `call` where the settings ask for one
 */
export async function startDemo(
  t: TestContext,
  environment: Record<string, string> = {},
  token: string | null = null,
): Promise<Demo> {
  await ensureDashboard()
  const dataDir = await tempDir(t)
  await cp(await madeOnce('demo', writeDemo), dataDir, { recursive: true })
  return openDemo(
    t,
    await serveFrom(dataDir, { time: clock, environment: { PORT: await takePort(t), ...environment } }),
    token,
  )
}

/** One with more of a past, which is written for the test alone. */
export async function startDemoOf(t: TestContext, days: number): Promise<Demo> {
  await ensureDashboard()
  return openDemo(t, await serveFrom(await tempDir(t), { time: clock, days }), null)
}

async function openDemo(
  t: TestContext,
  { address, stop }: Awaited<ReturnType<typeof serveFrom>>,
  token: string | null,
): Promise<Demo> {
  t.after(stop)
  const api = apiClient(address, token === null ? {} : bearer(token))
  const sites = await api.ask<Demo['sites']>('GET', '/api/sites')
  return { ...api, sites }
}

/** Writing two days and judging them takes nine seconds of a processor; a demo that starts on a copy continues in seconds. */
async function writeDemo(dataDir: string): Promise<void> {
  const { stop } = await serveFrom(dataDir, { time: clockBefore() })
  await stop()
  letProbesRest(dataDir)
}

/**
 * A copy is sent nothing more, and on a busy machine that is a silence with alerts of its own before a test has ended, and a check that takes its
 * time is an error: no probe looks again unless it is asked to.
 */
function letProbesRest(dataDir: string): void {
  const database = new DatabaseSync(join(dataDir, 'tagwarden.db'))
  database.prepare('update probes set next_run_at = ?').run(clock.now() + DAY)
  database.close()
}

/** In this process: one of its own would load the program once more for each. The command line has tests in `test/cli/demo`. */
async function serveFrom(dataDir: string, { time, environment = {}, days = 2 }: Served) {
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, ...environment })
  const options = { config, clock: time, days, seed: 'tagwarden', simulate: false, connect: connectWithoutThread }
  return serveDemo(options, await prepareDemo(options), pino({ level: 'silent' }))
}

interface Served {
  time: Clock
  environment?: Record<string, string>
  days?: number
}
