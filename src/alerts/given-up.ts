import { TRIED_FOR_MS, tryAgain } from '../notifications/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { ANNOUNCED } from './incidents/escalate.ts'
import { LASTS } from './incidents/reach.ts'

/** Alerts handled in one round; the next round continues. */
const PER_ROUND = 200

/**
 * Clears the notes that people are about to be notified of alerts whose messages were given up on every channel. An alert that
 * lasts is then announced with its next result, or by a reminder, so that it gets through as soon as a channel works.
 */
export async function forgetGivenUp(store: Store, now: number): Promise<void> {
  const ids = await givenUp(store, now - TRIED_FOR_MS)
  if (ids.length === 0) return
  await store.write.transaction().execute(async (trx) => {
    for (const chunk of chunksOf(ids)) {
      await trx
        .updateTable('alerts')
        .set({ announced_at: null, last_announced_at: null, notified_severity: null, told_events: 0 })
        .where('id', 'in', chunk)
        .where('last_notified_at', 'is', null)
        .execute()
      await trx
        .updateTable('alerts')
        .set(({ ref }) => ({ last_announced_at: ref('last_notified_at') }))
        .where('id', 'in', chunk)
        .where('last_notified_at', 'is not', null)
        .execute()
      await trx
        .updateTable('incidents')
        .set(({ ref }) => ({ last_announced_at: ref('last_notified_at') }))
        .where('announced_alert_id', 'in', chunk)
        .where('last_notified_at', 'is not', null)
        .execute()
    }
  })
}

/**
 * Sends messages again that passed an incident on to the next person on call and were given up, as long as no one has acknowledged
 * the incident. Each was written once, to that person alone, so no later message replaces it.
 */
export async function resumeHandovers(store: Store, now: number): Promise<void> {
  const rows = await store.read
    .selectFrom('incidents')
    .innerJoin('on_call_escalations', 'on_call_escalations.incident_id', 'incidents.id')
    .innerJoin('deliveries', 'deliveries.alert_id', 'incidents.announced_alert_id')
    .select('deliveries.id')
    .where(LASTS)
    .where('incidents.state', '=', 'open')
    // What is back is passed on from the first step again.
    .where('deliveries.created_at', '>=', ANNOUNCED)
    .where('deliveries.kind', '=', 'reminder')
    .where('deliveries.state', '=', 'failed')
    .where('deliveries.given_up_at', 'is not', null)
    // Matches a note in the message's JSON. Plain reminders have none, and there may be more of them than fit in a round.
    .where('deliveries.message', 'like', '%"note":"%')
    .limit(PER_ROUND)
    .execute()
  await tryAgain(
    store,
    rows.map(({ id }) => id),
    now,
  )
}

/** Returns unresolved alerts whose last message was written before that time, reached no one and is no longer pending on any channel. */
async function givenUp({ read }: Pick<Store, 'read'>, before: number): Promise<string[]> {
  const rows = await read
    .selectFrom('alerts')
    .select('alerts.id')
    .where('alerts.state', '<>', 'resolved')
    .where('alerts.last_announced_at', '<=', before)
    .where(({ eb, or }) =>
      or([
        eb('alerts.last_notified_at', 'is', null),
        eb('alerts.last_notified_at', '<', eb.ref('alerts.last_announced_at')),
      ]),
    )
    .where(({ exists, not, selectFrom, and }) => {
      const inState = (state: string) =>
        exists(
          selectFrom('deliveries')
            .select('deliveries.id')
            .whereRef('deliveries.alert_id', '=', 'alerts.id')
            .where('deliveries.state', '=', state),
        )
      return and([inState('failed'), not(inState('pending'))])
    })
    .limit(PER_ROUND)
    .execute()
  return rows.map(({ id }) => id)
}
