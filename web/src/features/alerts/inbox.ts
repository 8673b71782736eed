import type { AlertRecord } from '../../api/alerts.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { typeName } from './type-names.ts'

export const STATES = ['open', 'acknowledged', 'resolved'] as const
export const FILTERS = ['all', ...STATES] as const
export type Filter = (typeof FILTERS)[number]

export type InboxRow =
  | { kind: 'heading'; key: string; state: AlertRecord['state']; count: number }
  | { kind: 'alert'; key: string; alert: AlertRecord }

export interface InboxQuery {
  filter: Filter
  /** The search text; every word must match. */
  text: string
}

/** The lines of the inbox: open alerts, acknowledged ones, both by severity, then the resolved ones, the last resolved first. */
export function inboxRows(
  alerts: readonly AlertRecord[],
  directory: Directory,
  { filter, text }: InboxQuery,
): InboxRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const wanted = alerts.filter((alert) => {
    const haystack = wordsOf(alert, directory)
    return words.every((word) => haystack.includes(word))
  })
  return STATES.flatMap((state) => {
    const own = filter === 'all' || filter === state ? wanted.filter((alert) => alert.state === state) : []
    if (own.length === 0) return []
    const rows = own
      .toSorted(state === 'resolved' ? lastEndedFirst : worstFirst)
      .map((alert): InboxRow => ({ kind: 'alert', key: alert.id, alert }))
    return [{ kind: 'heading', key: state, state, count: own.length }, ...rows]
  })
}

type Timed = Pick<AlertRecord, 'started_at' | 'resolved_at' | 'severity'>

export const lastEndedFirst = (a: Timed, b: Timed): number =>
  Date.parse(b.resolved_at ?? '') - Date.parse(a.resolved_at ?? '')

/** Critical first; of the same severity the longest open first, because it has cost the most. */
export const worstFirst = (a: Timed, b: Timed): number =>
  Number(b.severity === 'critical') - Number(a.severity === 'critical') ||
  Date.parse(a.started_at) - Date.parse(b.started_at)

function wordsOf(
  { title, message, probe_type, site_id, client_id }: AlertRecord,
  { sites, clients }: Directory,
): string {
  const names = [sites[site_id]?.name, clients[client_id]?.name]
  return [title, message, typeName(probe_type), ...names].join(' ').toLowerCase()
}

/**
 * The sentence at the top of the list: "11 alerts are open, 2 of them critical".
 *
 * @param what "alert"
 */
export function verdict({ open, critical, acknowledged, more }: Counts, what: string): string {
  if (open === 0)
    return acknowledged === 0 ? `No ${what} is open` : `No ${what} is open, ${acknowledged}${more} acknowledged`
  const worst = critical === 0 ? '' : critical === open ? ', critical' : `, ${critical}${more} of them critical`
  return `${open}${more} ${open === 1 && more === '' ? `${what} is` : `${what}s are`} open${worst}`
}

export interface Counts {
  open: number
  /** Of the open ones. */
  critical: number
  acknowledged: number
  /** Appended to each count; "+" when not all were read. */
  more: '' | '+'
}

/** The filters with their counts; a dash while they are unknown. */
export const filterLabels = (counts: Counts | null): { value: Filter; label: string }[] => [
  { value: 'all', label: 'All' },
  { value: 'open', label: `Open ${counts === null ? '–' : counts.open + counts.more}` },
  { value: 'acknowledged', label: `Acknowledged ${counts === null ? '–' : counts.acknowledged + counts.more}` },
  { value: 'resolved', label: 'Resolved' },
]

/** @param alerts or incidents @param isWhole whether these are all */
export function countsOf(alerts: readonly Pick<AlertRecord, 'state' | 'severity'>[], isWhole = true): Counts {
  const open = alerts.filter(({ state }) => state === 'open')
  return {
    open: open.length,
    critical: open.filter(({ severity }) => severity === 'critical').length,
    acknowledged: alerts.filter(({ state }) => state === 'acknowledged').length,
    more: isWhole ? '' : '+',
  }
}
