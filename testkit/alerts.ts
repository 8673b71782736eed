import { JUST_OPENED } from '../src/alerts/machine/bad.ts'
import { DAY, newId, newOrderedId } from '../src/lib/index.ts'
import type { AlertRow, SiteRow, Store } from '../src/store/index.ts'
import { insertProbe } from './probes.ts'

/** Later than any test's time. */
const FAR = 400 * DAY

/** Writes an alert straight into the store; `over` replaces fields. Without `probe_id` it gets a probe, or a service would resolve it. */
export async function insertAlert(
  store: Store,
  site: Pick<SiteRow, 'id' | 'client_id'>,
  openedAt: number,
  over: Partial<AlertRow> = {},
): Promise<AlertRow> {
  const probe_id = over.probe_id ?? (await insertProbe(store, site.id, { id: newId(), next_run_at: openedAt + FAR })).id
  const row: AlertRow = {
    id: newOrderedId(openedAt),
    client_id: site.client_id,
    site_id: site.id,
    probe_type: 'http_health',
    subject: 'target',
    subject_label: null,
    severity: 'critical',
    severity_since: openedAt,
    ...JUST_OPENED,
    title: 'It is down',
    message: 'It is down',
    details: '{}',
    started_at: openedAt,
    opened_at: openedAt,
    last_seen_at: openedAt,
    bad_events: '[]',
    ...over,
    probe_id,
  }
  await store.write.insertInto('alerts').values(row).execute()
  return row
}
