import { DAY } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** Alerts deleted in one transaction, each with a few lines of timeline. */
const PER_STEP = 200

/** Deletes alerts that ended more than `days` ago, with their timelines, in small steps. Any node may do so. */
export async function clearAlerts(store: Store, days: number, now: number, mayGoOn: () => boolean): Promise<void> {
  while (mayGoOn()) {
    const old = await store.read
      .selectFrom('alerts')
      .select('id')
      .where('state', '=', 'resolved')
      .where('resolved_at', '<', now - days * DAY)
      .limit(PER_STEP)
      .execute()
    if (old.length === 0) return
    const ids = old.map(({ id }) => id)
    await store.write.transaction().execute(async (trx) => {
      await trx.deleteFrom('alert_events').where('alert_id', 'in', ids).execute()
      await trx.deleteFrom('alerts').where('id', 'in', ids).execute()
    })
  }
}
