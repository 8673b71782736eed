import type { TestContext } from 'node:test'
import { type ApiClient, apiClient } from '../../../testkit/api.ts'
import { demoIn, preparedDemo, READY } from '../../cli/demo/prepared.ts'
import { startCli } from '../../cli/support.ts'
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
  const api = withToken(apiClient(await printed(READY)), token)
  const sites = (await api.call('GET', '/api/sites')).json<Demo['sites']>()
  return { ...api, sites }
}

function withToken(api: ApiClient, token: string | null): ApiClient {
  if (token === null) return api
  const call: ApiClient['call'] = (method, path, body, headers = {}) =>
    api.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  return { ...api, call }
}
