import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SilenceRecord, silencesQuery } from '../../api/alerts.ts'
import { type MaintenanceRecord, maintenanceQuery } from '../../api/maintenance.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'

/** An alert or a probe, as far as silences can name it. */
export interface SilenceTarget {
  client_id: string
  site_id: string
  probe_id: string
  /** Of an alert: what it is part of. */
  incident_id?: string | null
  /** Of an alert: which tag, event or field. Left out, a silence of one of them does not cover it. */
  subject_key?: string
  /** The same for people; null or left out: the whole of what the probe watches. */
  subject_label?: string | null
}

/** What keeps messages back now. */
export interface Mute {
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

/** What of it covers the target; null: people are notified. */
export const muteOf = (mutes: readonly (Mute & Scope)[], target: SilenceTarget): Mute | null =>
  mutes.find(
    ({ client_id, site_id, probe_id, subject_key = null, incident_id = null }) =>
      (subject_key === null || subject_key === target.subject_key) &&
      (client_id === target.client_id ||
        site_id === target.site_id ||
        probe_id === target.probe_id ||
        (incident_id !== null && incident_id === target.incident_id)),
  ) ?? null

/** What covers each of an incident's alerts; null while one of them may speak. Those of sites are of the vendor's incident, too. */
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
  /** With a probe: only that of it. */
  subject_key?: string | null
}

const scopeOf = ({ client_id, site_id, probe_id, subject_key = null, incident_id = null }: Scope): Scope => ({
  client_id,
  site_id,
  probe_id,
  subject_key,
  incident_id,
})

/** What can be muted from where an alert is shown. */
interface SilenceScope {
  key: 'subject' | 'probe' | 'site'
  /** "This tag: Meta CAPI" */
  label: string
  scope: Scope
}

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** From the narrowest to the widest. What a probe judges as a whole has no tag, event or field of its own. */
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

/** A key names one thing (`tag:"Meta CAPI"`), several (`tag:…,event:…`), or is a hash of very long names. */
function kindOf(key: string): string {
  const [, kind] = /^(tag|event|field):"(?:[^"\\]|\\.)*"$/.exec(key) ?? []
  return kind === undefined ? 'Only' : `This ${kind}:`
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** When people are back at work. */
const MORNING = '09:00'

/** The ends of a silence that take one click. Times in epoch ms. */
export const SPANS: readonly { label: string; endOf: (now: number, zone: string) => number }[] = [
  { label: '1 hour', endOf: (now) => now + HOUR },
  { label: '4 hours', endOf: (now) => now + 4 * HOUR },
  { label: 'Until tomorrow, 09:00', endOf: tomorrowMorning },
]

/** Tomorrow at nine by the clocks of a zone. */
export function tomorrowMorning(now: number, zone: string): number {
  const noon = momentOf(`${wallTime(now, zone).slice(0, 10)}T12:00`, zone) ?? now
  const tomorrow = wallTime(noon + DAY, zone).slice(0, 10)
  return momentOf(`${tomorrow}T${MORNING}`, zone) ?? now + DAY
}

/** What keeps messages back now; nothing before it is known. */
export function useMutes(): readonly (Mute & Scope)[] {
  const { data: silences } = useQuery(silencesQuery(true))
  const { data: maintenance } = useQuery(maintenanceQuery(true))
  return useMemo(() => mutesNow(silences ?? [], maintenance ?? []), [silences, maintenance])
}
