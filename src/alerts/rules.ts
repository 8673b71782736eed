import type { InferResult } from 'kysely'
import { DAY, monthOf } from '../lib/index.ts'
import {
  type ChannelSettings,
  channelsOf,
  isForIncidents,
  isReachable,
  kindOf,
  offChannels,
  type QuietHours,
  type Recipients,
  withChannels,
} from '../notifications/index.ts'
import { PROBE_TYPES } from '../probes/index.ts'
import { type AlertRow, chunksOf, type Kysely, type ProbeRow, type Tables, type Transaction } from '../store/index.ts'
import { refusedFor } from './incidents/sign.ts'
import type { Rules } from './machine/types.ts'
import { type Mutes, muteFor, workEnds } from './mutes.ts'

/**
 * Returns the rules for an alert's messages. Alerts about the check itself have a fixed threshold, so the probe's thresholds do not
 * apply to them.
 *
 * @param alert as it is, or as it would be opened
 */
export function rulesOf(alert: Alert, source: AlertSource, context: AlertContext): Rules {
  const isTarget = alert.subject !== 'check'
  return {
    failureThreshold: isTarget ? source.failureThreshold : 1,
    recoveryThreshold: isTarget ? source.recoveryThreshold : 1,
    reminderMinutes: source.reminderMinutes,
    notifyResolved: source.notifyResolved,
    ...suppressionRules(alert, source, context),
  }
}

type Alert = Pick<AlertRow, 'subject' | 'incident_id' | 'announced_at' | 'details'>

function suppressionRules(
  alert: Alert,
  source: AlertSource,
  context: AlertContext,
): Pick<Rules, 'suppressedBy' | 'suppressedText'> {
  const { mutes, channelSettings, off, now } = context
  const { client } = source
  const reason = muteFor(targetOf(alert, source), mutes.silences, mutes.maintenances, now)
  if (reason !== null) return { suppressedBy: reason.by }
  if (isReachable(client, channelSettings, off))
    return { suppressedBy: isSaidByQuota(alert, client, context) ? 'quota' : null }
  return isReachable(client, channelSettings, new Set())
    ? { suppressedBy: 'no_channel', suppressedText: 'No one to notify: every channel is switched off after a failure' }
    : { suppressedBy: 'no_channel' }
}

/**
 * Returns whether the message about the client's used-up quota, which is sent once, says the same of all of its sites and reaches the
 * same people: neither paging services nor the person on call get it. There is none where large batches are refused although much
 * of a small quota is left.
 */
const isSaidByQuota = (
  alert: Alert,
  client: Recipients['client'],
  { channelSettings, usedUp }: AlertContext,
): boolean =>
  alert.announced_at === null &&
  refusedFor(alert) === 'quota' &&
  usedUp.has(client.id) &&
  (client.onCall ?? null) === null &&
  !channelsOf({ client, ...channelSettings }).some(({ key, address }) => isForIncidents(kindOf(key, address)))

const targetOf = (
  { subject, incident_id }: Pick<Alert, 'subject' | 'incident_id'>,
  { client, site, probe }: AlertSource,
) => ({
  clientId: client.id,
  siteId: site.id,
  probeId: probe.id,
  subject,
  incidentId: incident_id,
})

/** After maintenance longer than this no one waits for the end of something that was bad before it, ms. */
const LONGEST_WORK_MS = DAY

/** Returns when the maintenance of the alert's subject ends, epoch ms, or null when there is none. */
export const workEndsOf = (alert: Alert, source: AlertSource, { mutes, now }: Pick<AlertContext, 'mutes' | 'now'>) =>
  workEnds(targetOf(alert, source), mutes.maintenances, now)

/**
 * Returns for how long people are not yet notified of an end within maintenance, ms. 0 when they will not be notified after it
 * either, because the alert is silenced or the maintenance too long.
 */
export function workLeft(alert: Alert, source: AlertSource, { mutes, now }: AlertContext): number {
  if (muteFor(targetOf(alert, source), mutes.silences, [], now) !== null) return 0
  const left = (workEndsOf(alert, source, { mutes, now }) ?? now) - now
  return left <= LONGEST_WORK_MS ? left : 0
}

/** What decides about messages, read once for all alerts that are judged together. */
export interface AlertContext {
  now: number
  mutes: Mutes
  channelSettings: ChannelSettings
  /** By the probe's id. */
  sources: ReadonlyMap<string, AlertSource>
  /** Channels that are off until someone fixes them. */
  off: ReadonlySet<string>
  /** Clients that were notified in this month that their quota is used up. */
  usedUp: ReadonlySet<string>
}

/** The probes that a context is loaded for. */
interface ContextQuery extends Pick<AlertContext, 'mutes' | 'channelSettings' | 'now'> {
  probeIds: readonly string[]
}

export async function loadContext(trx: Transaction<Tables>, query: ContextQuery): Promise<AlertContext> {
  const { probeIds, mutes, channelSettings, now } = query
  const sources = await loadSources(trx, probeIds)
  return { mutes, channelSettings, now, sources, off: await offChannels(trx), usedUp: await usedUpQuotas(trx, now) }
}

async function usedUpQuotas(trx: Transaction<Tables>, now: number): Promise<Set<string>> {
  const messages = await trx
    .selectFrom('quota_messages')
    .select('client_id')
    .where('month', '=', monthOf(now))
    .where('step', '=', 100)
    .execute()
  return new Set(messages.map(({ client_id }) => client_id))
}

/** The probe that raises an alert, with its site, its client, and their settings for notifications. */
export interface AlertSource {
  client: Recipients['client'] & { name: string }
  site: { id: string; name: string; url: string; timezone: string }
  probe: { id: string; name: string; probe_type: string }
  /** Whether neither probe, site nor client is paused. */
  isActive: boolean
  failureThreshold: number
  recoveryThreshold: number
  reminderMinutes: number | null
  notifyResolved: boolean
  /** Whether channels that know of the incident get escalations, too. */
  notifyEscalated: boolean
  /** Hours in which only critical alerts are sent at once. */
  quietHours: QuietHours | null
}

/** Returns the sources by probe id; deleted probes are missing. */
export async function loadSources(db: Kysely<Tables>, probeIds: readonly string[]): Promise<Map<string, AlertSource>> {
  const sources = new Map<string, AlertSource>()
  for (const ids of chunksOf([...new Set(probeIds)])) {
    const rows = await sitesWithClients(db)
      .innerJoin('probes', 'probes.site_id', 'sites.id')
      .select(['probes.id as probe_id', 'probes.name as probe_name', 'probes.probe_type', 'probes.failure_threshold'])
      .select(['probes.recovery_threshold', 'probes.is_active as probe_active'])
      .where('probes.id', 'in', ids)
      .execute()
    for (const source of await sourcesOf(db, rows)) sources.set(source.probe.id, source)
  }
  return sources
}

/**
 * Returns whom to notify of the end of an alert whose probe was deleted: from its site, with the probe named by its type, which is
 * all that is left of it.
 */
export async function sourceWithoutProbe(
  db: Kysely<Tables>,
  { site_id, probe_id, probe_type }: Pick<AlertRow, 'site_id' | 'probe_id' | 'probe_type'>,
): Promise<AlertSource | undefined> {
  const rows = await sitesWithClients(db).where('sites.id', '=', site_id).execute()
  const probe_name = PROBE_TYPES.find(({ name }) => name === probe_type)?.title ?? probe_type
  const gone = { probe_id, probe_name, probe_type, probe_active: 0, failure_threshold: 1, recovery_threshold: 1 }
  const [source] = await sourcesOf(
    db,
    rows.map((row) => ({ ...row, ...gone })),
  )
  return source
}

const sitesWithClients = (db: Kysely<Tables>) =>
  db
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['sites.id as site_id', 'sites.name as site_name', 'sites.url', 'sites.timezone'])
    .select(['sites.is_active as site_active', 'clients.id as client_id', 'clients.name as client_name'])
    .select(['clients.chat_webhook', 'clients.email', 'clients.is_active as client_active'])
    .select(['clients.reminder_minutes', 'clients.notify_resolved', 'clients.notify_escalated'])
    .select(['clients.quiet_from', 'clients.quiet_to'])

type SourceRow = InferResult<ReturnType<typeof sitesWithClients>>[number] &
  Pick<ProbeRow, 'probe_type' | 'failure_threshold' | 'recovery_threshold'> & {
    probe_id: string
    probe_name: string
    probe_active: number
  }

async function sourcesOf(db: Kysely<Tables>, rows: readonly SourceRow[]): Promise<AlertSource[]> {
  const reached = await withChannels(
    db,
    rows.map((row) => ({ ...row, id: row.client_id })),
  )
  return reached.map(({ channels, onCall, ...row }) => ({
    client: {
      id: row.client_id,
      name: row.client_name,
      chat_webhook: row.chat_webhook,
      email: row.email,
      channels,
      onCall,
    },
    site: { id: row.site_id, name: row.site_name, url: row.url, timezone: row.timezone },
    probe: { id: row.probe_id, name: row.probe_name, probe_type: row.probe_type },
    isActive: row.probe_active === 1 && row.site_active === 1 && row.client_active === 1,
    failureThreshold: row.failure_threshold,
    recoveryThreshold: row.recovery_threshold,
    reminderMinutes: row.reminder_minutes,
    notifyResolved: row.notify_resolved === 1,
    notifyEscalated: row.notify_escalated === 1,
    quietHours: row.quiet_from === null || row.quiet_to === null ? null : { from: row.quiet_from, to: row.quiet_to },
  }))
}
