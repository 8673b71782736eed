import { GIVEN_UP, TRIED_FOR_MS, tryAgain } from '../notifications/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { LASTS } from './incidents/reach.ts'

/** Alerts of one round; the rest comes with the next. */
const PER_ROUND = 200

/**
 * Takes back that people are about to be notified of alerts whose messages were given up, on every channel. What still lasts is announced
 * again with its next result, or reminded of: as soon as a channel works, it is delivered.
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
 * Tries messages again that handed an incident over to someone and were given up, while no one takes care of it: each is written once, to
 * that person alone.
 */
export async function resumeHandovers(store: Store, now: number): Promise<void> {
  const rows = await store.read
    .selectFrom('incidents')
    .innerJoin('on_call_escalations', 'on_call_escalations.incident_id', 'incidents.id')
    .innerJoin('deliveries', 'deliveries.alert_id', 'incidents.announced_alert_id')
    .select('deliveries.id')
    .where(LASTS)
    .where('incidents.state', '=', 'open')
    .where('deliveries.kind', '=', 'reminder')
    .where('deliveries.state', '=', 'failed')
    .where('deliveries.last_error', 'like', `${GIVEN_UP}%`)
    // As JSON has it: a plain reminder, of which there may be more than a round takes, has no note.
    .where('deliveries.message', 'like', '%"note":"%')
    .limit(PER_ROUND)
    .execute()
  await tryAgain(
    store,
    rows.map(({ id }) => id),
    now,
  )
}

/** Unresolved alerts whose last message was written before that time, reached no one, and waits nowhere any more. */
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
