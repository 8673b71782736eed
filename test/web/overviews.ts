import type { Overview, SiteState, Status } from '../../src/dashboard/index.ts'

export const site = (name: string, status: Status, over: Partial<SiteState> = {}): SiteState => ({
  id: name,
  name,
  url: `https://${name}.example`,
  timezone: 'UTC',
  status,
  reason: null,
  open_alerts: 0,
  worst_alert: null,
  last_event_at: '2026-11-20T09:59:00.000Z',
  events_24h: 1,
  sparkline: [],
  score: null,
  score_cap: null,
  probes: [],
  ...over,
})

const ORDER: readonly Status[] = ['critical', 'error', 'warning', 'ok', 'unknown']

export function overviewOf(clients: Record<string, SiteState[]>): Overview {
  const all = Object.values(clients).flat()
  const count = (status: Status) => all.filter((each) => each.status === status).length
  return {
    generated_at: '2026-11-20T10:00:00.000Z',
    totals: {
      clients: Object.keys(clients).length,
      sites: all.length,
      ok: count('ok'),
      warning: count('warning'),
      critical: count('critical'),
      error: count('error'),
      unknown: count('unknown'),
      waiting: all.filter((each) => each.status === 'unknown' && each.last_event_at === null).length,
      open_alerts: 0,
      open_incidents: 0,
    },
    incidents: [],
    incidents_left_out: 0,
    clients_without_channel: [],
    clients_near_quota: [],
    clients: Object.entries(clients).map(([name, sites]) => ({
      id: name,
      name,
      status: ORDER.find((status) => sites.some((each) => each.status === status)) ?? 'unknown',
      open_alerts: sites.reduce((sum, each) => sum + each.open_alerts, 0),
      sites,
    })),
    recent_alerts: [],
  }
}
