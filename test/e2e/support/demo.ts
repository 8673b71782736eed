import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { prepareDemo, serveDemo } from '../../../src/cli/demo/run.ts'
import { readConfig } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/index.ts'
import { type ApiClient, apiClient, bearer } from '../../../testkit/api.ts'
import { preparedDemo } from '../../../testkit/demo.ts'
import { ensureDashboard } from './dashboard.ts'

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
  const config = readConfig({ PORT: '0', DATA_DIR: await preparedDemo(t), ...environment })
  // In this process: one of its own would load the program once more for each. The command line has tests in `test/cli/demo`.
  const options = { config, clock: systemClock, days: 2, seed: 'tagwarden', simulate: false }
  const demo = await serveDemo(options, await prepareDemo(options), pino({ level: 'silent' }))
  t.after(demo.stop)
  const api = apiClient(demo.address, token === null ? {} : bearer(token))
  const sites = await api.ask<Demo['sites']>('GET', '/api/sites')
  return { ...api, sites }
}
