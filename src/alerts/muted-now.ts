import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid, type Visible } from '../http/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { listMaintenance } from './maintenance/maintenance.ts'
import { ScopeFields } from './scope.ts'
import { listSilences } from './silences/silences.ts'

/** The maximum of one page; no one reads more. */
const MOST = 1_000

export const MutedNow = model('MutedAlerts', {
  kind: Type.Enum(['silence', 'maintenance']),
  id: Uuid,
  ...ScopeFields,
  incident_id: nullable(Uuid),
  subject_label: nullable(Type.String({ description: 'Only this tag, event or field' })),
  why: nullable(Type.String({ description: 'The comment of a silence, the title of maintenance' })),
  ends_at: IsoTime,
  until_resolved: Type.Boolean({ description: 'Whether it ends earlier, as soon as no alert within it is unresolved' }),
  created_by: Type.String(),
})
export type MutedNow = Static<typeof MutedNow>

/**
 * Returns the silences and maintenance in effect now, the one that ends last first. Those for paused sites are left out.
 *
 * @param sites the active sites
 */
export async function mutedNow(
  store: Pick<Store, 'read'>,
  clients: Visible,
  sites: readonly { id: string; client_id: string }[],
  now: number,
): Promise<MutedNow[]> {
  const query = { active_only: true, limit: MOST }
  const [silences, maintenance] = await Promise.all([
    listSilences(store, clients, query, now),
    listMaintenance(store, clients, query, now),
  ])
  const silent = silences.entries.map(
    ({
      id,
      client_id,
      site_id,
      probe_id,
      incident_id,
      subject_label,
      comment,
      ends_at,
      until_resolved,
      created_by,
    }) => ({
      kind: 'silence' as const,
      id,
      client_id,
      site_id,
      probe_id,
      incident_id,
      subject_label,
      why: comment,
      ends_at,
      until_resolved,
      created_by,
    }),
  )
  const planned = maintenance.entries.flatMap(({ is_under_way, next_occurrence, ...record }) =>
    is_under_way && next_occurrence !== null
      ? [
          {
            kind: 'maintenance' as const,
            id: record.id,
            client_id: record.client_id,
            site_id: record.site_id,
            probe_id: record.probe_id,
            incident_id: null,
            subject_label: null,
            why: record.title,
            ends_at: next_occurrence.ends_at,
            until_resolved: false,
            created_by: record.created_by,
          },
        ]
      : [],
  )
  const muted = [...silent, ...planned]
  const siteOf = await sitesOf(store, muted)
  const watched = new Set(sites.flatMap(({ id, client_id }) => [id, client_id]))
  return muted
    .filter(({ client_id, site_id, probe_id, incident_id }) => {
      const of = site_id ?? client_id ?? siteOf.get(probe_id ?? incident_id ?? '')
      // Null is a vendor's incident, which has no site; undefined is a probe that was just deleted.
      return of === null || (of !== undefined && watched.has(of))
    })
    .sort((a, b) => (a.ends_at < b.ends_at ? 1 : a.ends_at > b.ends_at ? -1 : 0))
}

/** Returns the site of each probe and incident that is muted, by the id of the probe or incident. */
async function sitesOf({ read }: Pick<Store, 'read'>, muted: readonly MutedNow[]): Promise<Map<string, string | null>> {
  const sites = new Map<string, string | null>()
  for (const [table, ids] of [
    ['probes', muted.flatMap(({ probe_id }) => probe_id ?? [])],
    ['incidents', muted.flatMap(({ incident_id }) => incident_id ?? [])],
  ] as const) {
    for (const chunk of chunksOf(ids)) {
      const rows = await read.selectFrom(table).select(['id', 'site_id']).where('id', 'in', chunk).execute()
      for (const { id, site_id } of rows) sites.set(id, site_id)
    }
  }
  return sites
}
