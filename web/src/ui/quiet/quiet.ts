import type { SilenceRecord } from '../../api/alerts.ts'
import type { MaintenanceRecord } from '../../api/maintenance.ts'

/** Where an alert or a probe belongs. */
export interface Place {
  client_id: string
  site_id: string
  probe_id: string
  /** Of an alert: which tag, event or field. Left out, a silence of one of them does not cover the place. */
  subject_key?: string
}

/** What keeps messages back now. */
export interface Quiet {
  kind: 'silence' | 'maintenance'
  id: string
  /** ISO */
  until: string
  /** The comment of a silence, the title of maintenance. */
  why: string | null
}

/** All that keeps messages back now, the one that ends last first. */
export function quietNow(
  silences: readonly SilenceRecord[],
  maintenance: readonly MaintenanceRecord[],
): (Quiet & Scope)[] {
  const silent = silences.flatMap(({ state, id, ends_at, comment, ...scope }) =>
    state === 'active' ? [{ kind: 'silence' as const, id, until: ends_at, why: comment, ...scopeOf(scope) }] : [],
  )
  const planned = maintenance.flatMap(({ is_under_way, next_occurrence, id, title, ...scope }) =>
    is_under_way && next_occurrence !== null
      ? [{ kind: 'maintenance' as const, id, until: next_occurrence.ends_at, why: title, ...scopeOf(scope) }]
      : [],
  )
  return [...silent, ...planned].toSorted((a, b) => Date.parse(b.until) - Date.parse(a.until))
}

/** What of it covers a place; null: people are told. */
export const quietAt = (quiet: readonly (Quiet & Scope)[], place: Place): Quiet | null =>
  quiet.find(
    ({ client_id, site_id, probe_id, subject_key = null }) =>
      (subject_key === null || subject_key === place.subject_key) &&
      (client_id === place.client_id || site_id === place.site_id || probe_id === place.probe_id),
  ) ?? null

/** Exactly one is not null. */
export interface Scope {
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  /** With a probe: only that of it. */
  subject_key?: string | null
}

const scopeOf = ({ client_id, site_id, probe_id, subject_key = null }: Scope): Scope => ({
  client_id,
  site_id,
  probe_id,
  subject_key,
})
