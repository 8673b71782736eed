import { JobRunner, type Leases } from '../cluster/index.ts'
import { type Clock, DAY, MINUTE, SECOND } from '../lib/index.ts'
import type { DeletedSite, DeletionHooks } from '../management/index.ts'
import { type ChannelSettings, removeMessagesOfAlerts } from '../notifications/index.ts'
import type { ResultHook } from '../probes/index.ts'
import { chunksOf, type Store, type Tables, type Transaction, untilDone } from '../store/index.ts'
import { removeFeedback } from './feedback-rows.ts'
import { forgetGivenUp, forgetUntaken, forgetVendorsGivenUp, resumeHandovers } from './given-up.ts'
import { holdMuted } from './hold-muted.ts'
import { escalateUnacknowledged } from './incidents/escalate.ts'
import { followImpacts } from './incidents/follow-impact.ts'
import { clearIncidents, removeIncidentsOfSites } from './incidents/remove.ts'
import { followVendors } from './incidents/vendor-incidents.ts'
import { removeMutesOf } from './mutes.ts'
import { judgeResults } from './on-results.ts'
import { runUpkeep } from './upkeep.ts'

/** Reminders come at most this late, and an alert outlives its deleted probe by at most this time. */
const UPKEEP_INTERVAL_MS = 2 * SECOND
/** An escalation to the next person on call comes at most this late. */
const ON_CALL_INTERVAL_MS = 15 * SECOND
const RETENTION_INTERVAL_MS = 10 * MINUTE

export interface AlertsOptions {
  store: Store
  clock: Clock
  leases: Leases
  channelSettings: ChannelSettings
  /** Names of the events whose loss matters most, the most important first. */
  keyEvents: readonly string[]
  /** Days that alerts are kept after they were resolved. */
  resultDays: number
  onError: (error: Error, what: string) => void
}

/** The room's jobs and hooks: they update alerts when probes write results and as time passes. */
export class Alerts extends JobRunner {
  /** Runs in the transaction that writes results. */
  readonly onResults: ResultHook
  readonly channelSettings: ChannelSettings
  /** Must run before the hooks of the probes, as they read the probes' rows. */
  readonly deletionHooks: DeletionHooks

  constructor({ store, clock, leases, channelSettings, keyEvents, resultDays, onError }: AlertsOptions) {
    super({ clock, leases, onError })
    this.channelSettings = channelSettings
    this.deletionHooks = {
      removeOfSites: (trx, sites) => removeAlertsOfSites(trx, store, sites, clock.now()),
      removeOfClient: (trx, clientId) => removeMutesOf(trx, { clientIds: [clientId] }),
    }
    this.onResults = (trx, written) => judgeResults(trx, store, written, channelSettings, clock)
    this.jobs
      .onOneNode('given-up', MINUTE, async () => {
        await forgetGivenUp(store, clock.now())
        await forgetVendorsGivenUp(store, clock.now())
        await forgetUntaken(store, channelSettings, clock.now())
        await resumeHandovers(store, clock.now())
      })
      .onOneNode('alerts', UPKEEP_INTERVAL_MS, async (shouldContinue) => {
        await holdMuted(store, clock.now())
        await runUpkeep(store, channelSettings, clock, shouldContinue)
        if (shouldContinue()) await followVendors(store, channelSettings, clock)
      })
      .onOneNode('on-call', ON_CALL_INTERVAL_MS, (shouldContinue) =>
        escalateUnacknowledged(store, channelSettings, clock, shouldContinue),
      )
      .onOneNode('impact', UPKEEP_INTERVAL_MS, (shouldContinue) =>
        followImpacts(store, keyEvents, clock.now(), shouldContinue),
      )
      .deletingByAge('alert-retention', RETENTION_INTERVAL_MS, async (now, shouldContinue) => {
        await clearAlerts(store, resultDays, now, shouldContinue)
        await clearIncidents(store, resultDays, now, shouldContinue)
        await clearMutes(store, resultDays, now)
      })
  }
}

/** Alerts deleted in one transaction, each with a few timeline entries. */
const PER_STEP = 200

/** Deletes alerts that were resolved more than `days` ago, with their timelines and feedback, in small steps. Any node may run it. */
export async function clearAlerts(
  store: Store,
  days: number,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await untilDone(async () => {
    const old = await store.read
      .selectFrom('alerts')
      .select('id')
      .where('state', '=', 'resolved')
      .where('resolved_at', '<', now - days * DAY)
      // An unresolved incident sends its messages under the id of the alert that opened it.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('incidents')
              .select('incidents.id')
              .whereRef('incidents.id', '=', 'alerts.incident_id')
              .where('incidents.state', '<>', 'resolved'),
          ),
        ),
      )
      .limit(PER_STEP)
      .execute()
    if (old.length === 0) return false
    const ids = old.map(({ id }) => id)
    await store.write.transaction().execute(async (trx) => {
      await removeFeedback(trx, ids)
      await trx.deleteFrom('alert_events').where('alert_id', 'in', ids).execute()
      await trx.deleteFrom('alerts').where('id', 'in', ids).execute()
    })
    return old.length === PER_STEP
  }, shouldContinue)
}

/**
 * Deletes silences and one-off maintenance that ended more than `days` ago: by then the results that name them are deleted too.
 * Also deletes those of deleted probes, because the room of the probes cannot import this one.
 */
export async function clearMutes({ write }: Pick<Store, 'write'>, days: number, now: number): Promise<void> {
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
 * Deletes all that this room keeps about sites: alerts with their timelines, feedback and messages, incidents, silences and
 * maintenance, including those of the sites' probes. Call it before the probes are deleted.
 */
async function removeAlertsOfSites(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  sites: readonly DeletedSite[],
  now: number,
): Promise<void> {
  const parts = chunksOf(sites.map(({ id }) => id))
  const probeIds: string[] = []
  for (const siteIds of parts) {
    const probes = await trx
      .selectFrom('probes')
      .select('id')
      .where('site_id', 'in', siteIds)
      // Probes first, then alerts: results lock them in this order, and another order could deadlock.
      .$if(isShared, (query) => query.orderBy('id').forUpdate())
      .execute()
    probeIds.push(...probes.map(({ id }) => id))
  }
  await removeMutesOf(trx, { siteIds: parts.flat(), probeIds })
  for (const siteIds of parts) {
    const ofSites = trx.selectFrom('alerts').select('id').where('site_id', 'in', siteIds)
    await removeMessagesOfAlerts(trx, ofSites, now)
    await trx.deleteFrom('alert_events').where('alert_id', 'in', ofSites).execute()
    await trx.deleteFrom('alert_feedback').where('site_id', 'in', siteIds).execute()
    await trx.deleteFrom('alerts').where('site_id', 'in', siteIds).execute()
    await removeIncidentsOfSites(trx, siteIds)
  }
}
