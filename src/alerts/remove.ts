import type { Tables, Transaction } from '../store/index.ts'
import { removeQuietOf } from './quiet.ts'

/**
 * Deletes what is kept here of sites that are being deleted: alerts with their timelines and messages, silences and
 * maintenance, those of their probes too. To be called while the probes are still there.
 */
export async function removeAlertsOfSites(trx: Transaction<Tables>, siteIds: readonly string[]): Promise<void> {
  // One by one: no limit of parameters is met, whatever the number of sites.
  for (const siteId of siteIds) {
    const probes = await trx.selectFrom('probes').select('id').where('site_id', '=', siteId).execute()
    await removeQuietOf(trx, { siteIds: [siteId], probeIds: probes.map(({ id }) => id) })
    const ofSite = trx.selectFrom('alerts').select('id').where('site_id', '=', siteId)
    await trx.deleteFrom('deliveries').where('alert_id', 'in', ofSite).execute()
    await trx.deleteFrom('alert_events').where('alert_id', 'in', ofSite).execute()
    await trx.deleteFrom('alerts').where('site_id', '=', siteId).execute()
  }
}
