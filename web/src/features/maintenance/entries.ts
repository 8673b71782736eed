import type { SilenceRecord } from '../../api/alerts.ts'
import type { MaintenanceRecord } from '../../api/maintenance.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { aboveOf } from '../../ui/mute/scope.ts'
import { occurrencesIn, type Stretch } from './schedule.ts'

/** A silence or maintenance in the list. */
export type Entry = { kind: 'silence'; record: SilenceRecord } | { kind: 'maintenance'; record: MaintenanceRecord }
export type EntryState = 'now' | 'planned' | 'over'

export function entriesOf(silences: readonly SilenceRecord[], maintenance: readonly MaintenanceRecord[]): Entry[] {
  return [
    ...maintenance.map((record): Entry => ({ kind: 'maintenance', record })),
    ...silences.map((record): Entry => ({ kind: 'silence', record })),
  ]
}

export const titleOf = (entry: Entry): string =>
  entry.kind === 'maintenance' ? entry.record.title : (entry.record.comment ?? 'Silence')

/** The state of an entry. Suspended maintenance counts as over. */
export function stateOf(entry: Entry): EntryState {
  if (entry.kind === 'silence')
    return ({ active: 'now', scheduled: 'planned', ended: 'over' } as const)[entry.record.state]
  if (entry.record.is_under_way) return 'now'
  return entry.record.next_occurrence === null ? 'over' : 'planned'
}

/** The current window, the next one, or the last one; null for suspended weekly maintenance. */
export function windowOf({ kind, record }: Entry): { starts_at: string; ends_at: string } | null {
  if (kind === 'silence') return record
  const { next_occurrence, starts_at, ends_at } = record
  return next_occurrence ?? (starts_at === null || ends_at === null ? null : { starts_at, ends_at })
}

/** When an entry mutes within a week. */
export function stretchesIn(entry: Entry, week: Stretch): Stretch[] {
  if (entry.kind === 'maintenance') return entry.record.is_active ? occurrencesIn(entry.record, week) : []
  const { starts_at, ends_at } = entry.record
  return occurrencesIn({ ...NOTHING, kind: 'once', starts_at, ends_at }, week)
}

const NOTHING = { weekdays: null, start: null, duration_minutes: null, timezone: null }

/** Whether an entry concerns a client or site or something of it; empty ids match everything. */
export function concerns({ record }: Entry, directory: Directory, client: string, site: string): boolean {
  const { clientId, siteId } = aboveOf(record, directory)
  if (site !== '') return siteId === site || (siteId === null && clientId === directory.sites[site]?.client_id)
  return client === '' || clientId === client
}

/** Orders entries by the time that matters: the earliest end of current ones, the earliest start of planned ones. */
export const bySoonest = (a: Entry, b: Entry): number => timeOf(a) - timeOf(b)

function timeOf(entry: Entry): number {
  const window = windowOf(entry)
  if (window === null) return Number.POSITIVE_INFINITY
  const state = stateOf(entry)
  const at = Date.parse(state === 'planned' ? window.starts_at : window.ends_at)
  return state === 'over' ? -at : at
}
