import { isoTime, notFound } from '../../lib/index.ts'
import { deliveriesOf } from '../../notifications/index.ts'
import type { Store } from '../../store/index.ts'
import { changesBefore } from '../context.ts'
import { factsOf } from '../facts.ts'
import { changeInWords } from '../wording.ts'
import { alertRecord, timelineEntry } from './record.ts'

/**
 * An alert with its timeline and the messages about it.
 *
 * @param seesSecrets whether the addresses that messages went to are shown
 * @throws AppError `not_found`
 */
export async function readAlert(store: Pick<Store, 'read'>, id: string, seesSecrets: boolean) {
  const row = await store.read.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Alert')
  const [events, deliveries, changes] = await Promise.all([
    store.read.selectFrom('alert_events').selectAll().where('alert_id', '=', id).orderBy('id').execute(),
    deliveriesOf(store, id, seesSecrets),
    changesBefore(store.read, [row]),
  ])
  const change = changes.get(id)
  return {
    ...alertRecord(row),
    since: isoTime(row.started_at),
    facts: factsOf(row.probe_type, row.details),
    change: change === undefined ? null : changeInWords(change, row.started_at),
    details: JSON.parse(row.details) as Record<string, unknown>,
    timeline: events.map(timelineEntry),
    deliveries,
  }
}
