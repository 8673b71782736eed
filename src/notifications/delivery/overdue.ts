import { sql } from 'kysely'
import { MINUTE } from '../../lib/index.ts'
import { chunksOf, type Store } from '../../store/index.ts'
import type { ChannelSnapshot } from './schedule.ts'

/**
 * A probe that is overdue by this time has not run since the service was down: what it found is old and may be over. It runs right
 * after the start, and its next result decides. A node that merely runs behind stays below this.
 */
const OVERDUE_MS = MINUTE

/**
 * The condition for probes that are not overdue.
 *
 * @param now epoch ms
 */
export const runsInTime = (now: number) =>
  sql<boolean>`(case when probes.claimed_by is null then probes.next_run_at else probes.due_at end) > ${now - OVERDUE_MS}`

/** Returns the channel without its messages about unresolved alerts whose probe is overdue. */
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
