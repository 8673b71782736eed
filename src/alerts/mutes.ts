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
  /** The subject's key, as alerts have it. */
  subject: string
  /** The incident that it is part of; null, or missing, of what is in none yet. */
  incidentId?: string | null
}

/** A time in which nothing is sent, of a silence or of maintenance. Epoch ms, half-open. */
export interface Mute extends Scope {
  id: string
  starts_at: number
  ends_at: number
  /** With a probe: only this subject of it. */
  subject_key?: string | null
  /** Of an incident: itself, and those that it explains. */
  incident_ids?: readonly string[]
}

/** What keeps messages from being sent. */
export interface Mutes {
  silences: readonly Mute[]
  maintenances: readonly Mute[]
}

interface MuteReason {
  /** As `suppressed_by` of an alert says it. */
  by: `silence:${string}` | `maintenance:${string}`
  /** The maintenance under way, also when a silence is named as the reason: results are marked with it. */
  maintenanceId: string | null
}

/** Why nothing is sent about the target at that time (epoch ms), or null. */
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

/** When the planned work on the target ends, epoch ms; null where there is none. */
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
 * Reads, in two small statements, what is in effect at that time. The windows of weekly maintenance are settled here, once for
 * all the targets that are asked about: a look-up in a zone's rules takes longer than all the rest.
 */
export async function loadMutes(db: Kysely<Tables>, at: number): Promise<Mutes> {
  const silences = await db
    .selectFrom('silences')
    .select(['id', 'client_id', 'site_id', 'probe_id', 'subject_key', 'incident_id', 'starts_at', 'ends_at'])
    .where('ends_at', '>', at)
    .where('starts_at', '<=', at)
    .execute()
  // Not by the statement: in the order of the ids SQLite reads those that ended in other years, with each result that is bad.
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
  // A result names one maintenance: that of the site before that of its probe, as the first makes it maintenance of the site's time.
  rows.sort((a, b) => Number(a.probe_id !== null) - Number(b.probe_id !== null))
  return { silences: await withParts(db, silences), maintenances: rows.flatMap((row) => underWay(row, at)) }
}

/** Silences of incidents are those of what these explain, too. */
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

/** Whether someone has silenced all of an incident, with what joins it later. */
export const isSilenced = ({ silences }: Pick<Mutes, 'silences'>, incidentId: string): boolean =>
  silences.some(({ incident_ids = [] }) => incident_ids.includes(incidentId))

/** Whether some of these alerts last, and none of those may speak. */
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

/** What is deleted, by id. Of a deleted site the probes have to be named too, and of a deleted client the sites. */
interface Deleted {
  clientIds?: readonly string[]
  siteIds?: readonly string[]
  probeIds?: readonly string[]
}

/** Deletes the silences and the maintenance of what is deleted, in the transaction that deletes it. */
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

/** Results found during maintenance say so, for anyone who judges a site's past by them. */
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
