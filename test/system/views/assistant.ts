import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { bearer } from '../../../testkit/api.ts'
import { ADMIN } from '../../management/support.ts'
import type { Say } from './compare.ts'
import { type Alert, byId, type Incident, idsOf, lasts, type Truth } from './truth.ts'

interface Part<T> {
  entries: T[]
  next_before?: string | null
}

/** An assistant that asks by tools. */
export async function connect(t: TestContext, url: string) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: bearer(ADMIN) } }),
  )
  t.after(() => client.close())
  return async <T>(name: string, input: Record<string, unknown> = {}): Promise<T> =>
    (await client.callTool({ name, arguments: input })).structuredContent as T
}

/** What it finds is what the lists hold. */
export async function compareTools(say: Say, call: Awaited<ReturnType<typeof connect>>, truth: Truth): Promise<void> {
  const incidents = await call<Part<Incident>>('list_incidents', { resolved: false, limit: 100 })
  say('incidents to an assistant', idsOf(incidents.entries), idsOf(truth.incidents.filter(lasts)))
  const alerts = await call<Part<Alert>>('list_alerts', { resolved: false, limit: 100 })
  say('alerts to an assistant', idsOf(alerts.entries), idsOf(truth.alerts.filter(lasts)))
  const sites = await call<Part<{ id: string; last_event_at: string | null }>>('list_sites')
  const known = ({ id, last_event_at }: { id: string; last_event_at: string | null }) => [id, last_event_at]
  say('sites to an assistant', sites.entries.map(known), truth.sites.map(known))
  for (const { id, name } of truth.sites.slice(0, 1)) {
    const health = await call<{ unresolved_incidents: { id: string }[] }>('site_health', { site_id: id })
    const own = truth.incidents.filter((one) => lasts(one) && one.site_id === id)
    say(`incidents of ${name} to an assistant`, byId(health.unresolved_incidents), byId(own))
  }
}
