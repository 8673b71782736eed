import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SilenceRecord, silencesQuery } from '../../api/alerts.ts'
import { type MaintenanceRecord, maintenanceQuery } from '../../api/maintenance.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'

/** An alert or probe with the fields by which silences name it. */
export interface SilenceTarget {
  client_id: string
  site_id: string
  probe_id: string
  /** The incident of an alert. */
  incident_id?: string | null
  /** The tag, event or field of an alert. Without it, a silence of one of these does not cover the target. */
  subject_key?: string
  /** Its label; absent or null when the alert is about everything the probe watches. */
  subject_label?: string | null
}

/** A silence or maintenance in effect. */
export interface Mute {
  kind: 'silence' | 'maintenance'
  id: string
  /** ISO */
  until: string
  /** Whether it ends earlier, with its last alert. */
  untilResolved: boolean
  /** The comment of a silence, the title of maintenance. */
  why: string | null
}

/** All silences and maintenance in effect, the one that ends last first. */
export function mutesNow(
  silences: readonly SilenceRecord[],
  maintenance: readonly MaintenanceRecord[],
): (Mute & Scope)[] {
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
export const untilWords = ({ until, untilResolved }: Mute, clock: (at: number) => string): string =>
  untilResolved ? 'until resolved' : `until ${clock(Date.parse(until))}`

/** What mutes the target; null when people are notified. */
export const muteOf = (mutes: readonly (Mute & Scope)[], target: SilenceTarget): Mute | null =>
  mutes.find(
    ({ client_id, site_id, probe_id, subject_key = null, incident_id = null }) =>
      (subject_key === null || subject_key === target.subject_key) &&
      (client_id === target.client_id ||
        site_id === target.site_id ||
        probe_id === target.probe_id ||
        (incident_id !== null && incident_id === target.incident_id)),
  ) ?? null

/** What mutes each of an incident's alerts; null while one can notify. Alerts of sites also belong to a vendor's incident. */
export function mutesOfAll(
  mutes: readonly (Mute & Scope)[],
  incident_id: string,
  alerts: readonly SilenceTarget[],
): Mute[] | null {
  const found = alerts.flatMap((alert) => muteOf(mutes, alert) ?? muteOf(mutes, { ...alert, incident_id }) ?? [])
  return found.length > 0 && found.length === alerts.length ? found : null
}

/** Exactly one is not null. */
export interface Scope {
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  incident_id?: string | null
  /** With a probe, limits the scope to this subject of it. */
  subject_key?: string | null
}

const scopeOf = ({ client_id, site_id, probe_id, subject_key = null, incident_id = null }: Scope): Scope => ({
  client_id,
  site_id,
  probe_id,
  subject_key,
  incident_id,
})

/** A scope that can be silenced from an alert. */
interface SilenceScope {
  key: 'subject' | 'probe' | 'site'
  /** "This tag: Meta CAPI" */
  label: string
  scope: Scope
}

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** The scopes of a target, narrowest first. Targets that a probe judges as a whole have no tag, event or field. */
export function silenceScopes({ site_id, probe_id, subject_key, subject_label = null }: SilenceTarget): SilenceScope[] {
  const own: SilenceScope[] =
    subject_key === undefined || subject_label === null
      ? []
      : [
          {
            key: 'subject',
            label: `${kindOf(subject_key)} ${subject_label}`,
            scope: { ...NONE, probe_id, subject_key },
          },
        ]
  return [
    ...own,
    { key: 'probe', label: own.length === 0 ? 'This check' : 'All of this check', scope: { ...NONE, probe_id } },
    { key: 'site', label: 'The whole site', scope: { ...NONE, site_id } },
  ]
}

/** The word for a subject key, which names one thing (`tag:"Meta CAPI"`), several (`tag:…,event:…`), or is a hash of very long names. */
function kindOf(key: string): string {
  const [, kind] = /^(tag|event|field):"(?:[^"\\]|\\.)*"$/.exec(key) ?? []
  return kind === undefined ? 'Only' : `This ${kind}:`
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** The hour at which people are back at work. */
const MORNING = '09:00'

/** The ends of a silence that take one click. Times in epoch ms. */
export const SPANS: readonly { label: string; endOf: (now: number, zone: string) => number }[] = [
  { label: '1 hour', endOf: (now) => now + HOUR },
  { label: '4 hours', endOf: (now) => now + 4 * HOUR },
  { label: 'Until tomorrow, 09:00', endOf: tomorrowMorning },
]

/** Tomorrow at nine in a zone. */
export function tomorrowMorning(now: number, zone: string): number {
  const noon = momentOf(`${wallTime(now, zone).slice(0, 10)}T12:00`, zone) ?? now
  const tomorrow = wallTime(noon + DAY, zone).slice(0, 10)
  return momentOf(`${tomorrow}T${MORNING}`, zone) ?? now + DAY
}

/** All silences and maintenance in effect; empty until loaded. */
export function useMutes(): readonly (Mute & Scope)[] {
  const { data: silences } = useQuery(silencesQuery(true))
  const { data: maintenance } = useQuery(maintenanceQuery(true))
  return useMemo(() => mutesNow(silences ?? [], maintenance ?? []), [silences, maintenance])
}
