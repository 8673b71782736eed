import { HOUR } from '../lib/index.ts'
import { offChannels, type Reach, type Recipients } from '../notifications/index.ts'
import {
  type AlertRow,
  chunksOf,
  type DeployMarkerTable,
  type Kysely,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import type { Quiet } from './quiet.ts'
import { type Outage, outagesOf } from './same-outage.ts'

/** What decides about messages, read once for all alerts that are judged together. */
export interface AlertContext {
  now: number
  quiet: Quiet
  reach: Reach
  /** By the probe's id. */
  sources: ReadonlyMap<string, AlertSource>
  /** Channels that are switched off until someone mends them. */
  off: ReadonlySet<string>
  /** What may be the same outage; grows with what opens meanwhile. */
  outages: Outage[]
}

/** The probes and their unresolved alerts that a context is loaded for. */
interface ContextQuery extends Pick<AlertContext, 'quiet' | 'reach' | 'now'> {
  probeIds: readonly string[]
  alerts: readonly AlertRow[]
}

export async function loadContext(trx: Transaction<Tables>, query: ContextQuery): Promise<AlertContext> {
  const { probeIds, alerts, quiet, reach, now } = query
  const sources = await sourcesOf(trx, probeIds)
  const sites = Array.from(sources.values(), ({ site, probe }) => ({ siteId: site.id, probeType: probe.probe_type }))
  return { quiet, reach, now, sources, off: await offChannels(trx), outages: await outagesOf(trx, sites, alerts) }
}

/** The probe that raises an alert, with its site, its client, and their settings for notifications. */
export interface AlertSource {
  client: Recipients['client'] & { name: string }
  site: { id: string; name: string; url: string; timezone: string }
  probe: { id: string; name: string; probe_type: string }
  /** Probe, site and client are switched on. */
  isActive: boolean
  failureThreshold: number
  recoveryThreshold: number
  reminderMinutes: number | null
  notifyResolved: boolean
  notifyEscalated: boolean
}

/** By the probe's id; deleted probes are missing. */
async function sourcesOf(db: Kysely<Tables>, probeIds: readonly string[]): Promise<Map<string, AlertSource>> {
  const sources = new Map<string, AlertSource>()
  for (const ids of chunksOf([...new Set(probeIds)])) {
    const rows = await db
      .selectFrom('probes')
      .innerJoin('sites', 'sites.id', 'probes.site_id')
      .innerJoin('clients', 'clients.id', 'sites.client_id')
      .select(['probes.id as probe_id', 'probes.name as probe_name', 'probes.probe_type', 'probes.failure_threshold'])
      .select(['probes.recovery_threshold', 'probes.is_active as probe_active'])
      .select(['sites.id as site_id', 'sites.name as site_name', 'sites.url', 'sites.timezone'])
      .select(['sites.is_active as site_active', 'clients.id as client_id', 'clients.name as client_name'])
      .select(['clients.chat_webhook', 'clients.email', 'clients.is_active as client_active'])
      .select(['clients.reminder_minutes', 'clients.notify_resolved', 'clients.notify_escalated'])
      .where('probes.id', 'in', ids)
      .execute()
    for (const row of rows) {
      sources.set(row.probe_id, {
        client: { id: row.client_id, name: row.client_name, chat_webhook: row.chat_webhook, email: row.email },
        site: { id: row.site_id, name: row.site_name, url: row.url, timezone: row.timezone },
        probe: { id: row.probe_id, name: row.probe_name, probe_type: row.probe_type },
        isActive: row.probe_active === 1 && row.site_active === 1 && row.client_active === 1,
        failureThreshold: row.failure_threshold,
        recoveryThreshold: row.recovery_threshold,
        reminderMinutes: row.reminder_minutes,
        notifyResolved: row.notify_resolved === 1,
        notifyEscalated: row.notify_escalated === 1,
      })
    }
  }
  return sources
}

/** How long after a deploy an alert that begins names it, ms. */
const CHANGE_NAMED_MS = 6 * HOUR

export type Marker = Pick<DeployMarkerTable, 'site_id' | 'at' | 'source' | 'from_version' | 'to_version'>

/**
 * What changed last before each of these alerts began, by the alert's id; those before which nothing did are missing. A change is
 * known when a check has seen it: so one that was seen after the beginning, and before the alert opened, may be the cause too.
 */
export async function changesBefore(
  db: Kysely<Tables>,
  alerts: readonly Pick<AlertRow, 'id' | 'site_id' | 'started_at' | 'opened_at'>[],
): Promise<Map<string, Marker>> {
  const found = new Map<string, Marker>()
  for (const chunk of chunksOf(alerts)) {
    const markers = await db
      .selectFrom('deploy_markers')
      .select(['site_id', 'at', 'source', 'from_version', 'to_version'])
      .where('site_id', 'in', [...new Set(chunk.map(({ site_id }) => site_id))])
      .where('at', '>=', Math.min(...chunk.map(({ started_at }) => started_at)) - CHANGE_NAMED_MS)
      .orderBy('at', 'desc')
      .execute()
    for (const { id, site_id, started_at, opened_at } of chunk) {
      const ofSite = markers.filter((marker) => marker.site_id === site_id && marker.at >= started_at - CHANGE_NAMED_MS)
      const before = ofSite.find(({ at }) => at <= started_at)
      const seen = ofSite.findLast(({ at }) => at > started_at && at <= opened_at)
      const change = before ?? seen
      if (change !== undefined) found.set(id, change)
    }
  }
  return found
}
