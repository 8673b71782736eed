import { sql } from 'kysely'
import { type Clock, MINUTE } from '../lib/index.ts'
import { type ChannelSettings, isReachable, offChannels, runsInTime, withChannels } from '../notifications/index.ts'
import { type AlertRow, chunksOf, type IncidentRow, type Store, type Tables, type Transaction } from '../store/index.ts'
import type { PendingTransition } from './incidents/due-messages.ts'
import { suppressedBy } from './incidents/speak.ts'
import { ESTIMATED, LATE_ESTIMATED_MS, LATE_MS } from './incidents/steady.ts'
import { isReminderDue, transition } from './machine/transition.ts'
import { type Rules, SILENT } from './machine/types.ts'
import { loadMutes } from './mutes.ts'
import { loadContext, rulesOf } from './rules.ts'
import { endResolvedSilences, resolvedSilences } from './silences/silences.ts'
import { lockUnresolved, writeTransitions } from './write-transitions.ts'

/** Probes whose alerts are updated in one transaction. */
const PER_STEP = 200

/**
 * Updates alerts as time passes: sends reminders, sends what a silence or maintenance held back once that has ended, ends silences of
 * what is resolved, and closes the alerts of probes that were deleted or paused, alone or with their site or client.
 */
export async function runUpkeep(
  store: Store,
  channelSettings: ChannelSettings,
  clock: Pick<Clock, 'now'>,
  shouldContinue: () => boolean,
): Promise<void> {
  const now = clock.now()
  if ((await resolvedSilences(store.read, now)).length > 0) {
    await store.write.transaction().execute((trx) => endResolvedSilences(trx, now))
  }
  const reached = await clientsReachableAgain(store, channelSettings)
  for (let after = ''; shouldContinue(); ) {
    const probeIds = await probesToUpdate(store, now, after, reached)
    const last = probeIds.at(-1)
    if (last === undefined) return
    await updateAlertsOf(store, probeIds, channelSettings, clock)
    after = last
  }
}

/** Returns clients whose alerts no channel took and that have a working channel now; at most `PER_STEP`, which fit in one statement. */
async function clientsReachableAgain({ read }: Store, channelSettings: ChannelSettings): Promise<string[]> {
  const clients = await read
    .selectFrom('alerts')
    .innerJoin('clients', 'clients.id', 'alerts.client_id')
    .select(['clients.id', 'clients.chat_webhook', 'clients.email'])
    .distinct()
    .where('alerts.state', '<>', 'resolved')
    .where('alerts.suppressed_by', '=', 'no_channel')
    .execute()
  if (clients.length === 0) return []
  const off = await offChannels(read)
  return (await withChannels(read, clients))
    .filter((client) => isReachable(client, channelSettings, off))
    .map(({ id }) => id)
    .slice(0, PER_STEP)
}

/** Returns probes with an unresolved alert that may need a change, ordered by id. */
async function probesToUpdate(
  { read }: Store,
  now: number,
  after: string,
  reached: readonly string[],
): Promise<string[]> {
  const interval = sql<number>`clients.reminder_minutes * ${sql.lit(MINUTE)}`
  const isTime = (table: 'alerts' | 'incidents') =>
    sql<boolean>`(${sql.ref(`${table}.last_notified_at`)} <= ${now} - ${interval}
      or ${sql.ref(`${table}.last_announced_at`)} > ${now} + ${interval})`
  const rows = await read
    .selectFrom('alerts')
    .leftJoin('incidents', 'incidents.id', 'alerts.incident_id')
    .leftJoin('probes', 'probes.id', 'alerts.probe_id')
    .leftJoin('sites', 'sites.id', 'probes.site_id')
    .leftJoin('clients', 'clients.id', 'sites.client_id')
    .select('alerts.probe_id')
    .distinct()
    .where('alerts.state', '<>', 'resolved')
    .where('alerts.probe_id', '>', after)
    .where(({ eb, or, and }) =>
      or([
        eb('probes.id', 'is', null),
        eb('probes.is_active', '=', 0),
        eb('sites.is_active', '=', 0),
        eb('clients.is_active', '=', 0),
        and([
          // Otherwise what the probe found may already be over, for example after a downtime.
          runsInTime(now),
          or([
            // These two have their own conditions below: no channel yet, and another alert speaks for the incident.
            and([eb('alerts.suppressed_by', '<>', 'no_channel'), eb('alerts.suppressed_by', 'not like', 'incident:%')]),
            and([
              eb('alerts.suppressed_by', 'like', 'incident:%'),
              or([
                eb('incidents.resolved_at', '<=', now - LATE_ESTIMATED_MS),
                and([eb('incidents.resolved_at', '<=', now - LATE_MS), eb('alerts.probe_type', 'not in', ESTIMATED)]),
                and([
                  eb('alerts.state', '=', 'open'),
                  eb('alerts.is_flapping', '=', 0),
                  eb('incidents.state', '=', 'open'),
                  eb('clients.reminder_minutes', 'is not', null),
                  isTime('incidents'),
                ]),
              ]),
            ]),
            // Its message was given up, and the next result may be good although the alert lasts: it flaps.
            and([
              eb('incidents.announced_at', 'is not', null),
              eb('incidents.announced_alert_id', 'is', null),
              eb('alerts.confirmed_at', 'is not', null),
              or([eb('alerts.suppressed_by', 'is', null), eb('alerts.suppressed_by', 'like', 'incident:%')]),
            ]),
            ...(reached.length === 0
              ? []
              : [and([eb('alerts.suppressed_by', '=', 'no_channel'), eb('clients.id', 'in', reached)])]),
            and([
              eb('alerts.state', '=', 'open'),
              eb('alerts.is_flapping', '=', 0),
              eb('clients.reminder_minutes', 'is not', null),
              isTime('alerts'),
            ]),
          ]),
        ]),
      ]),
    )
    .orderBy('alerts.probe_id')
    .limit(PER_STEP)
    .execute()
  return rows.map(({ probe_id }) => probe_id)
}

async function updateAlertsOf(
  store: Store,
  probeIds: readonly string[],
  channelSettings: ChannelSettings,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await store.write.transaction().execute(async (trx) => {
    const alerts = await lockUnresolved(trx, store, probeIds)
    const now = clock.now()
    const context = await loadContext(trx, {
      probeIds,
      mutes: await loadMutes(trx, now),
      channelSettings,
      now,
    })
    const incidents = await incidentsOf(trx, alerts)
    const pending = alerts.map((alert: AlertRow): PendingTransition => {
      const source = context.sources.get(alert.probe_id)
      if (source === undefined)
        return { before: alert, transition: removed(alert, 'Its probe was deleted', now), source }
      if (!source.isActive) {
        const text = 'Its probe, site or client was paused'
        return { before: alert, transition: removed(alert, text, now), source }
      }
      const rules = rulesOf(alert, source, context)
      const incident = incidents.get(alert.incident_id ?? '')
      const made = transition(alert, { type: 'time' }, rules, now)
      // When the alert that opened an incident is resolved, the next one sends the incident's reminders.
      const isReminder = made.message === 'opened' && remindsFor(alert, incident, rules, now)
      return { before: alert, transition: isReminder ? { alert, events: [], message: 'reminder' } : made, source }
    })
    await writeTransitions(trx, store, pending, context)
  })
}

/** Reads incidents without a lock: they are locked after the alerts, and judged again, when one of them changes. */
async function incidentsOf(trx: Transaction<Tables>, alerts: readonly AlertRow[]): Promise<Map<string, IncidentRow>> {
  const incidents = new Map<string, IncidentRow>()
  for (const ids of chunksOf([...new Set(alerts.flatMap(({ incident_id }) => incident_id ?? []))])) {
    const rows = await trx.selectFrom('incidents').selectAll().where('id', 'in', ids).execute()
    for (const row of rows) incidents.set(row.id, row)
  }
  return incidents
}

/** Returns whether the alert's incident is due for a reminder that this alert may send. */
function remindsFor(
  alert: AlertRow,
  incident: IncidentRow | undefined,
  { reminderMinutes }: Rules,
  now: number,
): boolean {
  if (incident === undefined || alert.state !== 'open' || alert.is_flapping === 1) return false
  return alert.suppressed_by === suppressedBy(incident.id) && isReminderDue(incident, reminderMinutes, now)
}

const removed = (alert: AlertRow, text: string, now: number) =>
  transition(alert, { type: 'removed', text }, SILENT, now)
