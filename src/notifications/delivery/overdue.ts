import { sql } from 'kysely'
import { MINUTE } from '../../lib/index.ts'
import { chunksOf, type Store } from '../../store/index.ts'
import type { ChannelSnapshot } from './schedule.ts'

/**
 * A probe that should have run so long ago has not run since this service was down: what it found is old, and may be over. Its next run decides, which
 * comes at once; a node that runs behind at times still has the time after each run.
 */
const OVERDUE_MS = MINUTE

/** Whether the probe of a statement has run as it should have. @param now epoch ms */
export const runsInTime = (now: number) =>
  sql<boolean>`(case when probes.claimed_by is null then probes.next_run_at else probes.due_at end) > ${now - OVERDUE_MS}`

/** The channel without its messages about unresolved alerts whose probe is overdue. */
export async function withoutOverdue(
  { read }: Pick<Store, 'read'>,
  snapshot: ChannelSnapshot,
  now: number,
): Promise<ChannelSnapshot> {
  const overdue = new Set<string | null>()
  const alertIds = [...new Set(snapshot.waiting.map(({ alertId }) => alertId))].filter((id) => id !== null)
  for (const chunk of chunksOf(alertIds)) {
    const rows = await read
      .selectFrom('alerts')
      .innerJoin('probes', 'probes.id', 'alerts.probe_id')
      .select('alerts.id')
      .where('alerts.id', 'in', chunk)
      .where('alerts.state', '<>', 'resolved')
      .where('probes.is_active', '=', 1)
      .where(({ not }) => not(runsInTime(now)))
      .execute()
    for (const { id } of rows) overdue.add(id)
  }
  return { ...snapshot, waiting: snapshot.waiting.filter(({ alertId }) => !overdue.has(alertId)) }
}
