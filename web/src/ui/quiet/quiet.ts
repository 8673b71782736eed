import type { SilenceRecord } from '../../api/alerts.ts'
import type { MaintenanceRecord } from '../../api/maintenance.ts'

/** An alert or a probe, as far as silences can name it. */
export interface SilenceTarget {
  client_id: string
  site_id: string
  probe_id: string
  /** Of an alert: which tag, event or field. Left out, a silence of one of them does not cover it. */
  subject_key?: string
  /** The same for people; null or left out: the whole of what the probe watches. */
  subject_label?: string | null
}

/** What keeps messages back now. */
export interface Quiet {
  kind: 'silence' | 'maintenance'
  id: string
  /** ISO */
  until: string
  /** It ends sooner, with the last alert within it. */
  untilResolved: boolean
  /** The comment of a silence, the title of maintenance. */
  why: string | null
}

/** All that keeps messages back now, the one that ends last first. */
export function quietNow(
  silences: readonly SilenceRecord[],
  maintenance: readonly MaintenanceRecord[],
): (Quiet & Scope)[] {
  const silent = silences.flatMap(({ state, id, ends_at, until_resolved, comment, ...scope }) =>
    state === 'active'
      ? [
          {
            kind: 'silence' as const,
            id,
            until: ends_at,
            untilResolved: until_resolved,
            why: comment,
            ...scopeOf(scope),
          },
        ]
      : [],
  )
  const planned = maintenance.flatMap(({ is_under_way, next_occurrence, id, title, ...scope }) =>
    is_under_way && next_occurrence !== null
      ? [
          {
            kind: 'maintenance' as const,
            id,
            until: next_occurrence.ends_at,
            untilResolved: false,
            why: title,
            ...scopeOf(scope),
          },
        ]
      : [],
  )
  return [...silent, ...planned].toSorted((a, b) => Date.parse(b.until) - Date.parse(a.until))
}

/** "until 16:00", "until resolved" */
export const untilWords = ({ until, untilResolved }: Quiet, clock: (at: number) => string): string =>
  untilResolved ? 'until resolved' : `until ${clock(Date.parse(until))}`

/** What of it covers the target; null: people are notified. */
export const quietAt = (quiet: readonly (Quiet & Scope)[], target: SilenceTarget): Quiet | null =>
  quiet.find(
    ({ client_id, site_id, probe_id, subject_key = null }) =>
      (subject_key === null || subject_key === target.subject_key) &&
      (client_id === target.client_id || site_id === target.site_id || probe_id === target.probe_id),
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
