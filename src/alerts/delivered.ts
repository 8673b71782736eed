import { sql } from 'kysely'
import { newOrderedId } from '../lib/index.ts'
import { type AlertMessageKind, channelInWords, type DeliveredHook } from '../notifications/index.ts'
import type { BatchOperation, Store } from '../store/index.ts'

/** What the timeline says of each message that reached someone. */
const NOTIFIED: Readonly<Record<AlertMessageKind, string>> = {
  opened: 'Notified: open',
  escalated: 'Notified: now critical',
  widened: 'Notified: more events are bad',
  flapping: 'Notified: flapping; paused until it is steady',
  reminder: 'Reminded',
  resolved: 'Notified: resolved',
}

/**
 * Notes in alerts when people were notified. Doing it twice changes nothing, as the same operations are repeated; an
 * alert that was deleted meanwhile stays so.
 */
export const noteDelivered =
  ({ write, isShared }: Pick<Store, 'write' | 'isShared'>): DeliveredHook =>
  (delivered) => {
    const [first] = delivered
    if (first === undefined) return []
    const alertIds = [...new Set(delivered.map(({ alertId }) => alertId))]
    // In the order in which results lock them, so that the two never wait for each other.
    const locked = write
      .selectFrom('alerts')
      .select('id')
      .where('id', 'in', alertIds)
      .$if(isShared, (query) => query.orderBy('probe_id').orderBy('subject').forUpdate())
    const notified = write
      .updateTable('alerts')
      .set(({ ref, fn, val }) => ({
        first_notified_at: fn.coalesce(ref('first_notified_at'), val(first.at)),
        last_notified_at: first.at,
      }))
      .where('id', 'in', locked)
    const entries = delivered.map(
      ({ alertId, kind, at, ...where }) => sql`insert into alert_events (alert_id, id, at, kind, actor, text)
        select alerts.id, ${newOrderedId(at)}, cast(${at} as bigint), 'notified', null, ${textOf(kind, channelInWords(where))}
        from alerts where alerts.id = ${alertId}
        on conflict (alert_id, id) do nothing`,
    )
    return [notified.compile(), ...entries.map((entry) => entry.compile(write))].map(
      (query): BatchOperation => ({ kind: 'statement', query }),
    )
  }

const textOf = (kind: string, where: string): string =>
  `${kind in NOTIFIED ? NOTIFIED[kind as AlertMessageKind] : 'Notified'}, by ${where}`
