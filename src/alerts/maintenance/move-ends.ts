import { moveEnd } from '../../notifications/index.ts'
import { type AlertRow, chunksOf, type MaintenanceRow, type Tables, type Transaction } from '../../store/index.ts'
import { holdMs } from '../incidents/steady.ts'
import { quietEndOf } from '../message-entries.ts'
import { loadMutes } from '../mutes.ts'
import { loadSources, workEndsOf } from '../rules.ts'
import { scheduleOf, windowAt } from './window.ts'

/**
 * Makes ends that are held until the maintenance is over due earlier, after people have shortened or deleted it.
 *
 * @param before the maintenance as it was
 */
export async function moveEnds(trx: Transaction<Tables>, before: MaintenanceRow, now: number): Promise<void> {
  const over = before.is_active === 1 ? windowAt(scheduleOf(before), now)?.endsAt : undefined
  if (over === undefined) return
  const { client_id, site_id, probe_id } = before
  const held = await trx
    .selectFrom('deliveries')
    .innerJoin('alerts', 'alerts.id', 'deliveries.alert_id')
    .innerJoin('incidents', 'incidents.id', 'alerts.incident_id')
    .selectAll('alerts')
    .select(['deliveries.id as delivery_id', 'deliveries.not_before', 'incidents.lead_alert_id'])
    // Of what eased before it ended, the incident alone says how bad it was.
    .select(['deliveries.channel', 'incidents.severity as worst'])
    .where('deliveries.state', '=', 'pending')
    .where('deliveries.kind', '=', 'resolved')
    .where('deliveries.not_before', '>=', over)
    .where(({ eb, or }) =>
      or([
        eb('alerts.client_id', '=', client_id),
        eb('alerts.site_id', '=', site_id ?? ''),
        eb('alerts.probe_id', '=', probe_id ?? ''),
      ]),
    )
    .execute()
  if (held.length === 0) return
  const mutes = await loadMutes(trx, now)
  const sources = await loadSources(
    trx,
    held.map((alert) => alert.probe_id),
  )
  const beside = await alertsOf(
    trx,
    held.flatMap(({ incident_id }) => incident_id ?? []),
  )
  for (const { delivery_id, not_before, lead_alert_id, channel, worst, ...alert } of held) {
    const source = sources.get(alert.probe_id)
    if (source === undefined) continue
    const isHeldByQuiet = worst !== 'critical' && channel !== 'global'
    const dueAfter = (at: number) => (isHeldByQuiet ? quietEndOf(source, at) : null) ?? at
    if (not_before !== dueAfter(over)) continue
    const alerts = beside.get(alert.incident_id ?? '') ?? [alert]
    const last = alerts.reduce((a, b) => ((a.resolved_at ?? 0) > (b.resolved_at ?? 0) ? a : b))
    const certain = (last.resolved_at ?? now) + holdMs(alerts, lead_alert_id, last)
    const due = dueAfter(Math.max(now, certain, workEndsOf(alert, source, { mutes, now }) ?? now))
    await moveEnd(trx, delivery_id, due)
  }
}

async function alertsOf(trx: Transaction<Tables>, incidentIds: readonly string[]): Promise<Map<string, AlertRow[]>> {
  const alerts: AlertRow[] = []
  for (const ids of chunksOf([...new Set(incidentIds)])) {
    alerts.push(...(await trx.selectFrom('alerts').selectAll().where('incident_id', 'in', ids).execute()))
  }
  return Map.groupBy(alerts, ({ incident_id }) => incident_id ?? '')
}
