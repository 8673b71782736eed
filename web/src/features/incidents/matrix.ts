import type { IncidentDetail } from '../../api/incidents.ts'
import { typeName } from '../alerts/type-names.ts'

interface Cell {
  alertId: string
  severity: 'warning' | 'critical'
  isCheck: boolean
  /** ISO */
  startedAt: string
  resolvedAt: string | null
}

/** Sites and what is affected on each; the longer of the two is in the rows. */
export interface Matrix {
  /** "Site" or "What" */
  corner: string
  columns: readonly string[]
  rows: readonly { name: string; cells: readonly (readonly Cell[])[] }[]
}

type Incident = Pick<IncidentDetail, 'alerts' | 'affected'>

/**
 * Which tags, events and checks of which sites are affected and since when, the earliest first in both directions. Sites with the same
 * name, of several clients, are told apart by their clients, those of one
 * client by a number.
 */
export function matrixOf({ alerts, affected }: Incident, clientOf: (siteId: string) => string | undefined): Matrix {
  const ids = Map.groupBy(new Map(affected.map(({ site_id, site_name }) => [site_id, site_name])), ([, name]) => name)
  const names = new Map(
    [...ids.values()].flatMap((same) =>
      same.map(([id, name]) => [id, same.length === 1 ? name : `${name}, ${clientOf(id) ?? id}`] as const),
    ),
  )
  for (const same of Map.groupBy(names, ([, name]) => name).values()) {
    if (same.length > 1) for (const [n, [id, name]] of same.toSorted().entries()) names.set(id, `${name} (${n + 1})`)
  }
  const found = alerts
    .toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
    .map((alert) => ({
      site: names.get(alert.site_id) ?? alert.site_id,
      what: alert.subject_label ?? typeName(alert.probe_type),
      cell: {
        alertId: alert.id,
        severity: alert.severity,
        isCheck: alert.subject === 'check',
        startedAt: alert.started_at,
        resolvedAt: alert.resolved_at,
      },
    }))
  const sites = [...new Set(found.map(({ site }) => site))]
  const whats = [...new Set(found.map(({ what }) => what))]
  const isBySite = sites.length >= whats.length
  const cellsAt = (site: string, what: string) =>
    found.flatMap((one) => (one.site === site && one.what === what ? [one.cell] : []))
  return isBySite
    ? {
        corner: 'Site',
        columns: whats,
        rows: sites.map((name) => ({ name, cells: whats.map((what) => cellsAt(name, what)) })),
      }
    : {
        corner: 'What',
        columns: sites,
        rows: whats.map((name) => ({ name, cells: sites.map((site) => cellsAt(site, name)) })),
      }
}
