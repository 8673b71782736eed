import type { Status } from '../../api/overview.ts'
import type { ProbeRecord } from '../../api/probes.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { unbroken } from '../../lib/words.ts'
import { bySeverity, STATUSES } from '../../ui/status/status.ts'

export const FILTERS = ['all', 'trouble', 'off'] as const
export type Filter = (typeof FILTERS)[number]

/** A probe in the list, with its site. */
export interface ProbeRow {
  probe: ProbeRecord
  site: SiteRecord | undefined
  status: Status
}

/** The target's status by the last result; unknown when it judged nothing. */
export const statusOf = ({ last_status, judged }: Pick<ProbeRecord, 'last_status' | 'judged'>): Status =>
  judged ? (last_status ?? 'unknown') : 'unknown'

/** The rows of the list, worst first, paused probes last. */
export function rowsOf(probes: readonly ProbeRecord[], sites: readonly SiteRecord[]): ProbeRow[] {
  const byId = new Map(sites.map((site) => [site.id, site]))
  return probes
    .map((probe) => ({ probe, site: byId.get(probe.site_id), status: statusOf(probe) }))
    .toSorted(
      (a, b) =>
        Number(b.probe.is_active) - Number(a.probe.is_active) ||
        bySeverity(a.status, b.status) ||
        (a.site?.name ?? '').localeCompare(b.site?.name ?? '') ||
        a.probe.name.localeCompare(b.probe.name),
    )
}

/** The rows of a filter whose probe, type, site or message contains the text. */
export function matching(rows: readonly ProbeRow[], filter: Filter, search: string): ProbeRow[] {
  const sought = search.trim().toLowerCase()
  return rows.filter(
    ({ probe, site, status }) =>
      fits(filter, probe.is_active, status) &&
      `${probe.name}\n${probe.probe_type}\n${site?.name ?? ''}\n${probe.last_message ?? ''}`
        .toLowerCase()
        .includes(sought),
  )
}

function fits(filter: Filter, isActive: boolean, status: Status): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'trouble':
      return isActive && status !== 'ok' && status !== 'unknown'
    case 'off':
      return !isActive
  }
}

/** The number of active probes in each state, worst first, and of paused ones. */
export function countsOf(rows: readonly ProbeRow[]): { states: { status: Status; count: number }[]; off: number } {
  const active = rows.filter(({ probe }) => probe.is_active)
  const states = STATUSES.map((status) => ({ status, count: active.filter((row) => row.status === status).length }))
  return { states: states.filter(({ count }) => count > 0), off: rows.length - active.length }
}

/** A result's message with a capital first letter. */
export const sentence = (message: string): string => unbroken(message.slice(0, 1).toUpperCase() + message.slice(1))
