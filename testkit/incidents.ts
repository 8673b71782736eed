import { newOrderedId } from '../src/lib/index.ts'
import type { IncidentRow, SiteRow, Store } from '../src/store/index.ts'

/** Writes an incident straight into the store; `over` replaces fields. */
export async function insertIncident(
  store: Store,
  site: Pick<SiteRow, 'id' | 'client_id'> | null,
  openedAt: number,
  over: Partial<IncidentRow> = {},
): Promise<IncidentRow> {
  const row: IncidentRow = {
    id: newOrderedId(openedAt),
    scope: site === null ? 'vendor' : 'site',
    client_id: site?.client_id ?? null,
    site_id: site?.id ?? null,
    cause: site === null ? 'tag' : 'server',
    cause_at: null,
    vendor: null,
    title: 'It is down',
    severity: 'critical',
    state: 'open',
    started_at: openedAt,
    opened_at: openedAt,
    announced_at: null,
    last_announced_at: null,
    last_notified_at: null,
    notified_severity: null,
    announced_alert_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
    lead_alert_id: null,
    parent_id: null,
    impact: null,
    impact_due: null,
    ...over,
  }
  await store.write.insertInto('incidents').values(row).execute()
  return row
}
