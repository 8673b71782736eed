import { type Finished, markResults } from '../probes/index.ts'
import {
  type AlertRow,
  chunksOf,
  type Kysely,
  type MaintenanceRow,
  type SilenceRow,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { scheduleOf, windowAt } from './maintenance/window.ts'
import type { Scope } from './scope.ts'

/** What an alert is about. */
interface Target {
  clientId: string
  siteId: string
  probeId: string
  /** The subject's key, as in `alerts.subject`. */
  subject: string
  /** Null or missing when it is not part of an incident yet. */
  incidentId?: string | null
}

/** A time in which a silence or maintenance holds messages back. Epoch ms, half-open. */
export interface Mute extends Scope {
  id: string
  starts_at: number
  ends_at: number
  /** With `probe_id`: only this subject of the probe. */
  subject_key?: string | null
  /** For a silenced incident: its id and those of the incidents that it explains. */
  incident_ids?: readonly string[]
}

/** The silences and maintenance in effect at one time. */
export interface Mutes {
  silences: readonly Mute[]
  maintenances: readonly Mute[]
}

interface MuteReason {
  /** As in an alert's `suppressed_by`. */
  by: `silence:${string}` | `maintenance:${string}`
  /** The current maintenance, even when a silence is the reason: results are marked with it. */
  maintenanceId: string | null
}

/** Returns why nothing is sent about the target at that time (epoch ms), or null. */
export function muteFor(
  target: Target,
  silences: readonly Mute[],
  maintenances: readonly Mute[],
  at: number,
): MuteReason | null {
  const silence = silences.find((mute) => applies(mute, target, at))
  const maintenanceId = maintenances.find((mute) => applies(mute, target, at))?.id ?? null
  if (silence !== undefined) return { by: `silence:${silence.id}`, maintenanceId }
  return maintenanceId === null ? null : { by: `maintenance:${maintenanceId}`, maintenanceId }
}

/** Returns when the maintenance of the target ends, epoch ms, or null when there is none. */
export const workEnds = (target: Target, maintenances: readonly Mute[], at: number): number | null =>
  maintenances.reduce<number | null>(
    (end, mute) => (applies(mute, target, at) ? Math.max(end ?? 0, mute.ends_at) : end),
    null,
  )

function applies(mute: Mute, target: Target, at: number): boolean {
  const { client_id, site_id, probe_id, subject_key = null, incident_ids = [] } = mute
  const isOf = client_id === target.clientId || site_id === target.siteId || probe_id === target.probeId
  return (
    mute.starts_at <= at &&
    at < mute.ends_at &&
    (subject_key === null || subject_key === target.subject) &&
    (isOf || incident_ids.some((id) => id === target.incidentId))
  )
}

/**
 * Reads what is in effect at that time, in two small statements. The windows of weekly maintenance are computed here once for all
 * targets, because looking up a time zone's rules takes longer than everything else.
 */
export async function loadMutes(db: Kysely<Tables>, at: number): Promise<Mutes> {
  const silences = await db
    .selectFrom('silences')
    .select(['id', 'client_id', 'site_id', 'probe_id', 'subject_key', 'incident_id', 'starts_at', 'ends_at'])
    .where('ends_at', '>', at)
    .where('starts_at', '<=', at)
    .execute()
  // Sorted here, because ordered by id SQLite reads all silences that ever ended, for every bad result.
  silences.sort((a, b) => (a.id < b.id ? -1 : 1))
  const rows = await db
    .selectFrom('maintenance')
    .selectAll()
    .where('is_active', '=', 1)
    .where(({ eb, and, or }) =>
      or([eb('kind', '=', 'weekly'), and([eb('starts_at', '<=', at), eb('ends_at', '>', at)])]),
    )
    .orderBy('id')
    .execute()
  // A result names one maintenance: the site's before the probe's, because only the site's takes the time out of the site's uptime.
  rows.sort((a, b) => Number(a.probe_id !== null) - Number(b.probe_id !== null))
  return { silences: await withParts(db, silences), maintenances: rows.flatMap((row) => underWay(row, at)) }
}

/** Extends silences of an incident to the incidents that it explains. */
async function withParts(
  db: Kysely<Tables>,
  silences: readonly (Mute & Pick<SilenceRow, 'incident_id'>)[],
): Promise<Mute[]> {
  const ids = silences.flatMap(({ incident_id }) => incident_id ?? [])
  const parts = new Map<string, string[]>()
  for (const chunk of chunksOf(ids)) {
    const rows = await db.selectFrom('incidents').select(['id', 'parent_id']).where('parent_id', 'in', chunk).execute()
    for (const { id, parent_id } of rows) parts.set(parent_id ?? '', [...(parts.get(parent_id ?? '') ?? []), id])
  }
  return silences.map(({ incident_id, ...mute }) =>
    incident_id === null ? mute : { ...mute, incident_ids: [incident_id, ...(parts.get(incident_id) ?? [])] },
  )
}

/** Returns the silence of a whole incident, including alerts that join it later, as in an alert's `suppressed_by`; null when there is none. */
export function silenceOf({ silences }: Pick<Mutes, 'silences'>, incidentId: string): MuteReason['by'] | null {
  const silence = silences.find(({ incident_ids = [] }) => incident_ids.includes(incidentId))
  return silence === undefined ? null : `silence:${silence.id}`
}

/** Returns whether some of these alerts are unresolved and all of those are muted. */
export function areMuted(alerts: Iterable<AlertRow>, { silences, maintenances }: Mutes, at: number): boolean {
  const lasting = [...alerts].filter(({ state }) => state !== 'resolved')
  const isMuted = ({ client_id, site_id, probe_id, subject, incident_id }: AlertRow) => {
    const target = { clientId: client_id, siteId: site_id, probeId: probe_id, subject, incidentId: incident_id }
    return muteFor(target, silences, maintenances, at) !== null
  }
  return lasting.length > 0 && lasting.every(isMuted)
}

function underWay(row: MaintenanceRow, at: number): Mute[] {
  const { id, client_id, site_id, probe_id } = row
  const window = windowAt(scheduleOf(row), at)
  return window === null
    ? []
    : [{ id, client_id, site_id, probe_id, starts_at: window.startsAt, ends_at: window.endsAt }]
}

/** Ids of what is being deleted. For a site its probes must be listed too, and for a client its sites. */
interface Deleted {
  clientIds?: readonly string[]
  siteIds?: readonly string[]
  probeIds?: readonly string[]
}

/** Deletes the silences and maintenance of what is being deleted, in the same transaction. */
export async function removeMutesOf(
  trx: Transaction<Tables>,
  { clientIds = [], siteIds = [], probeIds = [] }: Deleted,
): Promise<void> {
  const scopes = [
    ['client_id', clientIds],
    ['site_id', siteIds],
    ['probe_id', probeIds],
  ] as const
  for (const table of ['silences', 'maintenance'] as const) {
    for (const [column, ids] of scopes) {
      for (const chunk of chunksOf(ids)) await trx.deleteFrom(table).where(column, 'in', chunk).execute()
    }
  }
}

/** Marks results found during maintenance, so that calculations of a site's uptime can leave them out. */
export async function markMaintained(
  trx: Transaction<Tables>,
  written: readonly Finished[],
  { maintenances }: Mutes,
  now: number,
): Promise<void> {
  if (maintenances.length === 0) return
  const byMaintenance = new Map<string, Finished[]>()
  for (const finished of written) {
    const { site, probe } = finished
    const target = { clientId: site.client_id, siteId: site.id, probeId: probe.id, subject: '' }
    const id = muteFor(target, [], maintenances, now)?.maintenanceId
    if (typeof id === 'string') byMaintenance.set(id, [...(byMaintenance.get(id) ?? []), finished])
  }
  for (const [id, marked] of byMaintenance) {
    await markResults(
      trx,
      marked.map(({ result }) => result),
      id,
    )
  }
}
