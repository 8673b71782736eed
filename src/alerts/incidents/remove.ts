import { DAY } from '../../lib/index.ts'
import { type Store, type Tables, type Transaction, untilDone } from '../../store/index.ts'

/** Incidents deleted in one transaction, each with a few timeline entries. */
const PER_STEP = 200

/** Deletes incidents that were resolved more than `days` ago, once their alerts are gone, in small steps. Any node may run it. */
export async function clearIncidents(
  store: Store,
  days: number,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await untilDone(async () => {
    const old = await store.read
      .selectFrom('incidents')
      .select('id')
      .where('state', '=', 'resolved')
      .where('resolved_at', '<', now - days * DAY)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('alerts').select('alerts.id').whereRef('alerts.incident_id', '=', 'incidents.id'))),
      )
      .limit(PER_STEP)
      .execute()
    if (old.length === 0) return false
    const ids = old.map(({ id }) => id)
    await store.write.transaction().execute(async (trx) => {
      await trx.deleteFrom('incident_events').where('incident_id', 'in', ids).execute()
      await trx.deleteFrom('incident_notes').where('incident_id', 'in', ids).execute()
      await trx.deleteFrom('on_call_escalations').where('incident_id', 'in', ids).execute()
      await trx.deleteFrom('silences').where('incident_id', 'in', ids).execute()
      await trx.deleteFrom('incidents').where('id', 'in', ids).execute()
    })
    return old.length === PER_STEP
  }, shouldContinue)
}

/**
 * Deletes the incidents of sites that are being deleted.
 *
 * @param siteIds at most as many as fit in one statement
 */
export async function removeIncidentsOfSites(trx: Transaction<Tables>, siteIds: readonly string[]): Promise<void> {
  const ofSites = trx.selectFrom('incidents').select('id').where('site_id', 'in', siteIds)
  await trx.deleteFrom('incident_events').where('incident_id', 'in', ofSites).execute()
  await trx.deleteFrom('incident_notes').where('incident_id', 'in', ofSites).execute()
  await trx.deleteFrom('on_call_escalations').where('incident_id', 'in', ofSites).execute()
  await trx.deleteFrom('silences').where('incident_id', 'in', ofSites).execute()
  await trx.deleteFrom('incidents').where('site_id', 'in', siteIds).execute()
}
