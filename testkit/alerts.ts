import { newId, newOrderedId } from '../src/lib/index.ts'
import type { AlertRow, SiteRow, Store } from '../src/store/index.ts'

/** Writes an alert of a site straight into the store; `over` replaces fields. */
export async function insertAlert(
  store: Store,
  site: Pick<SiteRow, 'id' | 'client_id'>,
  openedAt: number,
  over: Partial<AlertRow> = {},
): Promise<AlertRow> {
  const row: AlertRow = {
    id: newOrderedId(openedAt),
    client_id: site.client_id,
    site_id: site.id,
    probe_id: newId(),
    probe_type: 'http_health',
    subject: 'target',
    subject_label: null,
    severity: 'critical',
    severity_since: openedAt,
    state: 'open',
    title: 'It is down',
    message: 'It is down',
    details: '{}',
    started_at: openedAt,
    opened_at: openedAt,
    last_seen_at: openedAt,
    occurrences: 1,
    confirmed_at: null,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
    resolution: null,
    suppressed_by: null,
    is_flapping: 0,
    announced_at: null,
    last_announced_at: null,
    first_notified_at: null,
    last_notified_at: null,
    notified_severity: null,
    bad_events: '[]',
    told_events: 0,
    ...over,
  }
  await store.write.insertInto('alerts').values(row).execute()
  return row
}
