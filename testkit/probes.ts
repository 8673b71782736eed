import { MINUTE, newId, newOrderedId } from '../src/lib/index.ts'
import { NEVER_RUN } from '../src/probes/api/changes.ts'
import type { ProbeRow, Store } from '../src/store/index.ts'
import { NOW } from './clock.ts'

/** A probe's row, due now; `over` replaces fields. */
export const newProbeRow = (siteId: string, over: Partial<ProbeRow> = {}): ProbeRow => ({
  id: newId(),
  site_id: siteId,
  probe_type: 'fake',
  name: 'Fake',
  config: '{}',
  interval_seconds: 60,
  timeout_ms: 10_000,
  failure_threshold: 1,
  recovery_threshold: 1,
  is_active: 1,
  created_at: NOW - MINUTE,
  next_run_at: NOW,
  ...NEVER_RUN,
  ...over,
})

let probeCount = 0

/** Writes a probe straight into the store; ids follow one another. */
export async function insertProbe(store: Store, siteId: string, over: Partial<ProbeRow> = {}): Promise<ProbeRow> {
  const row = newProbeRow(siteId, { id: `00000000-0000-4000-8000-${String(++probeCount).padStart(12, '0')}`, ...over })
  await store.write.insertInto('probes').values(row).execute()
  return row
}

/** A result's row, `ok` by default; `over` replaces fields. */
export const newResultRow = (
  probeId: string,
  at: number,
  over: { status?: string; reason?: string; maintenance_id?: string } = {},
) => ({
  probe_id: probeId,
  id: newOrderedId(at),
  status: 'ok',
  reason: null,
  message: '',
  response_time_ms: null,
  details: '{}',
  attempts: 1,
  executed_at: at,
  maintenance_id: null,
  ...over,
})
