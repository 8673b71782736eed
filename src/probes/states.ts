import type { UnjudgedReason } from '../detection/index.ts'
import type { Kysely, Tables } from '../store/index.ts'
import { reasonOf, statusOf } from './api/record.ts'
import type { ResultStatus } from './probe-type.ts'

/** An active probe with its last result; null what comes with the first. Times are epoch ms. */
export interface ProbeState {
  id: string
  siteId: string
  probeType: string
  name: string
  status: ResultStatus | null
  /** Why that result judged nothing; null where it judged, and before the first. */
  reason: UnjudgedReason | null
  message: string | null
  responseTimeMs: number | null
  lastResultAt: number | null
}

/** All active probes, oldest first. */
export async function activeProbes(db: Kysely<Tables>): Promise<ProbeState[]> {
  const rows = await db
    .selectFrom('probes')
    .select([
      'id',
      'site_id',
      'probe_type',
      'name',
      'last_status',
      'last_reason',
      'last_message',
      'last_response_time_ms',
    ])
    .select('last_result_at')
    .where('is_active', '=', 1)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    siteId: row.site_id,
    probeType: row.probe_type,
    name: row.name,
    status: row.last_status === null ? null : statusOf(row.last_status),
    reason: reasonOf(row.last_reason),
    message: row.last_message,
    responseTimeMs: row.last_response_time_ms,
    lastResultAt: row.last_result_at,
  }))
}
