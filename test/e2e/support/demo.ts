import type { TestContext } from 'node:test'
import { type ApiClient, apiClient, bearer } from '../../../testkit/api.ts'
import { demoIn, preparedDemo } from '../../../testkit/demo.ts'
import { startCli } from '../../../testkit/processes/command-line.ts'
import { READY } from '../../../testkit/processes/server-process.ts'
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
  const { printed } = await startCli(t, demoIn(await preparedDemo(t)), environment)
  const api = apiClient(await printed(READY), token === null ? {} : bearer(token))
  const sites = await api.ask<Demo['sites']>('GET', '/api/sites')
  return { ...api, sites }
}
