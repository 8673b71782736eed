import { DAY } from '../lib/index.ts'
import type { DeletedSite } from '../management/index.ts'
import { removeMessagesOfAlerts } from '../notifications/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'
import { removeQuietOf } from './quiet.ts'

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

/**
 * Deletes silences, and maintenance that was once, that ended more than `days` ago: no result that is kept names them. And those
 * of probes that were deleted: the room of the probes does not know of them.
 */
export async function clearQuiet({ write }: Pick<Store, 'write'>, days: number, now: number): Promise<void> {
  for (const table of ['silences', 'maintenance'] as const) {
    await write
      .deleteFrom(table)
      .where((eb) =>
        eb.or([
          eb('ends_at', '<', now - days * DAY),
          eb.and([
            eb('probe_id', 'is not', null),
            eb('probe_id', 'not in', eb.selectFrom('probes').select('probes.id')),
          ]),
        ]),
      )
      .execute()
  }
}

/**
 * Deletes what is kept here of sites that are being deleted: alerts with their timelines and messages, silences and
 * maintenance, those of their probes too. To be called while the probes are still there.
 */
export async function removeAlertsOfSites(trx: Transaction<Tables>, sites: readonly DeletedSite[]): Promise<void> {
  // One by one: no limit of parameters is met, whatever the number of sites.
  for (const { id: siteId } of sites) {
    const probes = await trx.selectFrom('probes').select('id').where('site_id', '=', siteId).execute()
    await removeQuietOf(trx, { siteIds: [siteId], probeIds: probes.map(({ id }) => id) })
    const ofSite = trx.selectFrom('alerts').select('id').where('site_id', '=', siteId)
    await removeMessagesOfAlerts(trx, ofSite)
    await trx.deleteFrom('alert_events').where('alert_id', 'in', ofSite).execute()
    await trx.deleteFrom('alerts').where('site_id', '=', siteId).execute()
  }
}
