import { sql } from 'kysely'
import {
  type AlertMessage,
  type ChannelSettings,
  channelsOf,
  channelsOnCall,
  isEndOfChannel,
  isVendorKnown,
  isWorking,
  offChannels,
  TRIED_FOR_MS,
  takesSeverity,
  tryAgain,
  withChannels,
} from '../notifications/index.ts'
import type { IncidentRow, Kysely, Store, Tables, Transaction } from '../store/index.ts'
import { probesOfIncidents } from './incidents/case.ts'
import { ANNOUNCED } from './incidents/escalate.ts'
import { LASTS } from './incidents/reach.ts'
import { lockUnresolved } from './write-transitions.ts'

/** Incidents or messages handled in one round; the next round continues. */
const PER_ROUND = 200

/**
 * Clears the notes that people are about to be notified of incidents whose messages reached no one and are no longer tried. What
 * lasts is then announced with the next result, or by a reminder, so that it gets through as soon as a channel works.
 */
export async function forgetGivenUp(store: Store, now: number): Promise<void> {
  const before = now - TRIED_FOR_MS
  for (const { id } of await givenUp(store.read, before)) {
    await store.write.transaction().execute(async (trx) => {
      // Alerts before incidents, as everywhere. Once they are locked, nothing more is written about the incident.
      await lockUnresolved(trx, store, await probesOfIncidents(trx, [id]))
      const [incident] = await givenUp(trx, before, id)
      if (incident === undefined) return
      if (incident.last_notified_at === null) await forgetAnnouncement(trx, id)
      else await forgetNews(trx, incident)
    })
  }
}

/**
 * Does the same for warnings that no channel took, once their client has a channel that takes them: it is notified of what is still
 * open, like the first channel of a client.
 */
export async function forgetUntaken(store: Store, channelSettings: ChannelSettings, now: number): Promise<void> {
  const untaken = await untakenWarnings(store.read)
  if (untaken.length === 0) return
  const off = await offChannels(store.read)
  for (const { incident_id, ...client } of await withChannels(store.read, untaken)) {
    const recipients = { client, ...channelSettings }
    const channels = [...channelsOf(recipients), ...channelsOnCall(recipients, now)].filter(isWorking(off))
    if (!channels.some((channel) => takesSeverity(channel, 'warning'))) continue
    await store.write.transaction().execute(async (trx) => {
      await lockUnresolved(trx, store, await probesOfIncidents(trx, [incident_id]))
      if ((await untakenWarnings(trx, incident_id)).length > 0) await forgetAnnouncement(trx, incident_id)
    })
  }
}

/** Returns open incidents with their clients whose announcement no channel took, as all take critical alerts only. */
function untakenWarnings(db: Kysely<Tables>, id?: string) {
  return db
    .selectFrom('incidents')
    .innerJoin('clients', 'clients.id', 'incidents.client_id')
    .select(['incidents.id as incident_id', 'clients.id', 'clients.chat_webhook', 'clients.email'])
    .where(LASTS)
    .$if(id !== undefined, (all) => all.where('incidents.id', '=', id ?? ''))
    .where('incidents.state', '=', 'open')
    .where('incidents.parent_id', 'is', null)
    .where('incidents.last_notified_at', 'is', null)
    .where('incidents.announced_alert_id', 'is not', null)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('deliveries')
            .select('deliveries.id')
            .whereRef('deliveries.alert_id', '=', 'incidents.announced_alert_id'),
        ),
      ),
    )
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('incident_events')
          .select('incident_events.id')
          .whereRef('incident_events.incident_id', '=', 'incidents.id')
          .where('incident_events.kind', '=', 'critical_only'),
      ),
    )
    .execute()
}

/** Any of its alerts may announce it then: the one that did may be resolved. Pages go on to show it since it was announced first. */
async function forgetAnnouncement(trx: Transaction<Tables>, id: string): Promise<void> {
  await trx
    .updateTable('alerts')
    .set({ announced_at: null, last_announced_at: null, notified_severity: null, told_events: 0 })
    .where('incident_id', '=', id)
    .where('state', '<>', 'resolved')
    .execute()
  const unsaid = { announced_alert_id: null, last_announced_at: null }
  await trx.updateTable('incidents').set(unsaid).where('id', '=', id).execute()
}

/**
 * Someone was notified of it, but not of the latest: that it is critical is news again if no one was notified of that, and that it is
 * back if the last that anyone got was its end.
 */
async function forgetNews(
  trx: Transaction<Tables>,
  { id, announced_alert_id, notified_severity }: GivenUp,
): Promise<void> {
  const rows = await trx
    .selectFrom('deliveries')
    .select('message')
    .where('alert_id', '=', announced_alert_id)
    .where('state', '=', 'delivered')
    .where('kind', 'not in', ['acknowledged', 'unacknowledged'])
    .orderBy('id')
    .execute()
  const delivered = rows
    .map(({ message }) => JSON.parse(message) as AlertMessage)
    .filter((message) => !isEndOfChannel(message))
  const isBack = delivered.at(-1)?.kind === 'resolved'
  const since = delivered.slice(delivered.findLastIndex(({ kind }) => kind === 'resolved') + 1)
  const isKnown = since.some(({ alert }) => alert.severity === 'critical')
  const severity = notified_severity === 'critical' && !isKnown ? 'warning' : notified_severity
  await trx
    .updateTable('alerts')
    .set(({ ref }) => ({ last_announced_at: ref('last_notified_at') }))
    .where('incident_id', '=', id)
    .where('last_notified_at', 'is not', null)
    .execute()
  if (severity !== notified_severity) {
    await trx
      .updateTable('alerts')
      .set({ notified_severity: severity })
      .where('incident_id', '=', id)
      .where('notified_severity', '=', 'critical')
      .execute()
  }
  await trx
    .updateTable('incidents')
    .set(({ ref }) => ({ last_announced_at: ref('last_notified_at'), notified_severity: isBack ? null : severity }))
    .where('id', '=', id)
    .execute()
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

/**
 * Clears the notes that the operator is about to be notified of a vendor's incident, or that it is critical, whose message reached no
 * one within 24 hours while it lasts: the next look at vendors says it again.
 */
export async function forgetVendorsGivenUp({ read, write }: Store, now: number): Promise<void> {
  const rows = await read
    .selectFrom('deliveries')
    .innerJoin('incidents', 'incidents.id', 'deliveries.incident_id')
    .select(['incidents.id', 'incidents.announced_at', 'incidents.last_announced_at'])
    // A literal, because with a parameter neither engine uses the partial index of failed messages.
    .where(sql<boolean>`deliveries.state = 'failed'`)
    .where('deliveries.kind', '=', 'vendor_opened')
    // Also one that was refused: by then the webhook may have been repaired.
    .where('deliveries.created_at', '<=', now - TRIED_FOR_MS)
    .whereRef('deliveries.created_at', '=', 'incidents.last_announced_at')
    .where(LASTS)
    .execute()
  for (const { id, announced_at, last_announced_at } of rows) {
    const unsaid = (await isVendorKnown(read, id))
      ? { notified_severity: 'warning', last_announced_at: announced_at }
      : { announced_at: null, last_announced_at: null }
    await write
      .updateTable('incidents')
      .set(unsaid)
      .where('id', '=', id)
      .where('last_announced_at', '=', last_announced_at)
      .where(LASTS)
      .execute()
  }
}

type GivenUp = Pick<IncidentRow, 'id' | 'last_notified_at' | 'notified_severity' | 'announced_alert_id'>

/**
 * Returns unresolved incidents whose last message reached no one and is no longer pending on any channel: it was written before that
 * time and failed, or its channels were all deleted before its turn. What is part of a vendor's incident is announced by that.
 */
async function givenUp(db: Kysely<Tables>, before: number, id?: string): Promise<GivenUp[]> {
  return db
    .selectFrom('incidents')
    .select(['incidents.id', 'last_notified_at', 'notified_severity', 'announced_alert_id'])
    .where(LASTS)
    .$if(id !== undefined, (all) => all.where('incidents.id', '=', id ?? ''))
    .where(({ eb, or }) =>
      or([eb('last_notified_at', 'is', null), eb('last_notified_at', '<', eb.ref('last_announced_at'))]),
    )
    .where(({ eb, exists, not, selectFrom, and, or }) => {
      const inState = (state: string) =>
        exists(
          selectFrom('deliveries')
            .select('deliveries.id')
            .whereRef('deliveries.alert_id', '=', 'incidents.announced_alert_id')
            .where('deliveries.state', '=', state),
        )
      const isInVain = and([eb('last_notified_at', 'is', null), eb('parent_id', 'is', null), inState('cancelled')])
      return and([
        not(inState('pending')),
        or([
          and([eb('last_announced_at', '<=', before), inState('failed')]),
          and([isInVain, not(inState('failed')), not(inState('delivered'))]),
        ]),
      ])
    })
    .limit(PER_ROUND)
    .execute()
}
