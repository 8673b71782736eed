import { type RawBuilder, sql } from 'kysely'
import { type Clock, duration, MINUTE } from '../../lib/index.ts'
import {
  type ChannelSettings,
  channelsOfPerson,
  enqueue,
  escalatesTo,
  GATHER_MS,
  isWorking,
  type OnCallPerson,
  type OnCallPlan,
  takesSeverity,
} from '../../notifications/index.ts'
import type { AlertRow, OnCallEscalationRow, Store, Tables, Transaction } from '../../store/index.ts'
import { entriesOf, quietEndOf } from '../message-entries.ts'
import { loadMutes } from '../mutes.ts'
import { type AlertContext, type AlertSource, loadContext, rulesOf } from '../rules.ts'
import { lockUnresolved } from '../write-transitions.ts'
import { type Case, lockCases, probesOfIncidents, saveCases } from './case.ts'
import { asIncident } from './due-messages.ts'
import { LASTS } from './reach.ts'
import { isBackUnsaid } from './speak.ts'

/** Incidents read at once. */
const PER_READ = 200

/**
 * Passes on incidents that no one has acknowledged within the time set in the client's rotation to the next person, until each
 * person was notified once; one that is back starts over. An incident that is silenced, under maintenance or flapping is not passed
 * on, nor is a warning in quiet hours.
 */
export async function escalateUnacknowledged(
  store: Store,
  channelSettings: ChannelSettings,
  clock: Pick<Clock, 'now'>,
  shouldContinue: () => boolean,
): Promise<void> {
  for (let after = ''; ; ) {
    const found = await overdueIncidents(store, clock.now(), after)
    for (const { id, isDone } of found) {
      if (!shouldContinue()) return
      if (isDone) continue
      await store.write.transaction().execute((trx) => escalate(trx, store, channelSettings, id, clock))
    }
    // Those that may not be passed on now stay overdue, and must not hide later ones.
    if (found.length < PER_READ) return
    after = found.at(-1)?.id ?? ''
  }
}

const openings = (latest: RawBuilder<number>) => sql<number>`coalesce((select max(${latest}) from deliveries
  where deliveries.alert_id = incidents.announced_alert_id and deliveries.kind = 'opened'
    and deliveries.state <> 'cancelled'), incidents.announced_at)`

/** When it was last announced: as opened, or as back. Steps taken before that say nothing about it. */
export const ANNOUNCED = openings(sql<number>`deliveries.created_at`)

/** When people could know of that: a warning is held back, and no one can acknowledge what was not sent yet. */
const DUE = openings(sql<number>`case when deliveries.not_before > deliveries.created_at + ${sql.lit(GATHER_MS)}
  then deliveries.not_before else deliveries.created_at end`)

/** When someone last withdrew an acknowledgement: the wait counts again from then on. */
const GIVEN_BACK = sql<number>`coalesce((select max(incident_events.at) from incident_events
  where incident_events.incident_id = incidents.id and incident_events.kind = 'unacknowledged'), 0)`

interface Overdue {
  id: string
  /** Everyone who is now in the rotation was notified: there is nothing left to do. */
  isDone: boolean
}

async function overdueIncidents({ read }: Pick<Store, 'read'>, now: number, after: string): Promise<Overdue[]> {
  const waitMs = sql<number>`on_call_rotations.escalate_after_minutes * ${sql.lit(MINUTE)}`
  const isUnderWay = sql<boolean>`(on_call_escalations.last_at >= ${ANNOUNCED}
    or on_call_escalations.announced_at >= ${ANNOUNCED})`
  const rows = await read
    .selectFrom('incidents')
    .innerJoin('on_call_rotations', 'on_call_rotations.client_id', 'incidents.client_id')
    .leftJoin('on_call_escalations', 'on_call_escalations.incident_id', 'incidents.id')
    .select(['incidents.id', 'on_call_rotations.people', 'on_call_escalations.notified'])
    .select(sql<number>`case when ${isUnderWay} then 1 else 0 end`.as('is_under_way'))
    .where(LASTS)
    .where('incidents.id', '>', after)
    .where('incidents.state', '=', 'open')
    .where('incidents.announced_at', 'is not', null)
    // Otherwise it is back, and no one was notified of that yet.
    .where('incidents.notified_severity', 'is not', null)
    .where('on_call_rotations.escalate_after_minutes', 'is not', null)
    .where(
      sql<boolean>`case when not coalesce(${isUnderWay}, false) then 0 when on_call_escalations.notified is null
        then on_call_escalations.steps else -1 end < on_call_rotations.people_count - 1`,
    )
    .where(({ or }) =>
      or([
        sql<boolean>`case when ${isUnderWay} then on_call_escalations.last_at else ${DUE} end <= ${now} - ${waitMs}`,
        sql<boolean>`case when ${isUnderWay} then on_call_escalations.last_at else ${ANNOUNCED} end > ${now} + ${waitMs}`,
      ]),
    )
    .orderBy('incidents.id')
    .limit(PER_READ)
    .execute()
  return rows.map(({ id, people, notified, is_under_way }) => ({
    id,
    isDone: is_under_way === 1 && notified !== null && idsIn(people).every((person) => notified.includes(person)),
  }))
}

const idsIn = (people: string): string[] => (JSON.parse(people) as OnCallPerson[]).map(({ id }) => id)

async function escalate(
  trx: Transaction<Tables>,
  store: Store,
  channelSettings: ChannelSettings,
  id: string,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const probeIds = await probesOfIncidents(trx, [id])
  // Alerts before incidents, as everywhere. A concurrent acknowledgement is visible once they are locked.
  await lockUnresolved(trx, store, probeIds)
  const known = (await lockCases(trx, store, { incidentIds: [id], siteIds: [], now: clock.now() })).get(id)
  if (known === undefined) return
  // Asked for after the locks: a silence may have begun while this waited for them.
  const now = clock.now()
  const { row } = known
  const voice = known.alerts.get(row.announced_alert_id ?? '')
  if (row.state !== 'open' || row.announced_at === null || isBackUnsaid(known) || voice === undefined) return
  const context = await loadContext(trx, { probeIds, mutes: await loadMutes(trx, now), channelSettings, now })
  const source = sourceOf(known, voice, context)
  const plan = source?.client.onCall ?? null
  if (source === undefined || plan === null) return

  const done = await trx.selectFrom('on_call_escalations').selectAll().where('incident_id', '=', id).executeTakeFirst()
  const { announced, first, given } = await trx
    .selectFrom('incidents')
    .select([ANNOUNCED.as('announced'), DUE.as('first'), GIVEN_BACK.as('given')])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const minutes = plan.rotation.escalateAfterMinutes
  if (minutes === null) return
  const waitMs = minutes * MINUTE
  // What was written while the clock was ahead must not hold back the next person until then, nor start over with each step.
  const isAhead = (at: number) => at > now + waitMs
  const isUnderWay = done !== undefined && Math.max(done.last_at, done.announced_at ?? 0) >= announced
  const { steps, last_at } = isUnderWay ? done : { steps: 0, last_at: first }
  const since = isAhead(given) ? last_at : Math.max(last_at, given)
  if (now - since < waitMs && !isAhead(isUnderWay ? since : announced)) return
  const isCritical = row.severity === 'critical' || row.notified_severity === 'critical'
  // A message would wait for their end, and by then the others would have been passed it too.
  if (!isCritical && quietEndOf(source, now) !== null) return
  const at = Math.min(first, now)
  const next = escalatesTo(plan, at, isUnderWay ? notifiedBy(done, plan, at) : [])
  if (next === null) return
  const { person, notified } = next
  const channels = channelsOfPerson(person, { client: source.client, ...channelSettings })
  const isReached = channels
    .filter(isWorking(context.off))
    .some((channel) => takesSeverity(channel, isCritical ? 'critical' : 'warning'))
  // When nothing reaches a person, the next one is due at once.
  const step = { steps: steps + 1, last_at: isReached ? now : since, announced_at: announced }
  await noteStep(trx, { incident_id: id, ...step, notified: JSON.stringify(notified) })
  // Longer than the rotation says when a silence, quiet hours or a downtime came between.
  const waited = duration(Math.max(waitMs, now - since))
  const note = `Not acknowledged for ${since === first || since === given ? '' : 'another '}${waited}: passed on to ${person.name}`
  const why = channels.length === 0 ? 'add an e-mail address or a channel' : 'no channel takes the message'
  const text = isReached ? note : `${note}, who cannot be reached: ${why}`
  known.events.push({ kind: 'next_on_call', actor: null, text })
  await saveCases(trx, [known], now)
  const alert = asIncident(voice, { known, kind: 'reminder', move: null, ending: null })
  const message = {
    kind: 'reminder',
    before: voice,
    alert,
    source: context.sources.get(alert.probe_id) ?? source,
    known,
    note,
    resolvedBy: null,
    handledBy: null,
    audience: 'everyone',
    isMoot: false,
    holdMs: 0,
    workMs: 0,
    only: { name: person.name, channels },
  } as const
  await enqueue(trx, await entriesOf(trx, [message], channelSettings, now), now)
}

/**
 * Returns the source of the alert that announced the incident or, when that is resolved because its probe was deleted or paused, of
 * another unresolved alert; only of an alert that is not silenced, under maintenance or flapping.
 */
function sourceOf({ alerts }: Case, voice: AlertRow, context: AlertContext): AlertSource | undefined {
  const speaking =
    voice.state === 'resolved' ? [...alerts.values()].filter(({ state }) => state !== 'resolved') : [voice]
  const maySpeak = speaking.flatMap((alert) => {
    const source = context.sources.get(alert.probe_id)
    const isQuiet = source?.isActive !== true || alert.is_flapping === 1
    return isQuiet || rulesOf(alert, source, context).suppressedBy !== null ? [] : [source]
  })
  return maySpeak[0]
}

/** Returns the ids of those who were notified. An earlier version notes the number of its steps only. */
function notifiedBy({ steps, notified }: OnCallEscalationRow, plan: OnCallPlan, announcedAt: number): string[] {
  let ids = notified === null ? [] : (JSON.parse(notified) as string[])
  for (let step = Math.max(0, ids.length - 1); step < steps; step++) {
    ids = escalatesTo(plan, announcedAt, ids)?.notified ?? ids
  }
  return ids
}

async function noteStep(trx: Transaction<Tables>, row: OnCallEscalationRow): Promise<void> {
  const { incident_id: _key, ...step } = row
  await trx
    .insertInto('on_call_escalations')
    .values(row)
    .onConflict((conflict) => conflict.column('incident_id').doUpdateSet(step))
    .execute()
}
