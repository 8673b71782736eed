import type { DigestAlert, Severity } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'
import type { Period } from './due-period.ts'

/** A client whose probes flap for a week has thousands; no one reads them in an e-mail. */
const MOST_ALERTS = 500

/**
 * The client's alerts that were open at some time in the period, those still open first and each kind newest first. Left out
 * is what people were not notified of either: what was over before it was confirmed, or within a silence or maintenance.
 */
export async function alertsOf(
  { read }: Pick<Store, 'read'>,
  clientId: string,
  { from, to }: Period,
): Promise<DigestAlert[]> {
  const rows = await read
    .selectFrom('alerts')
    .innerJoin('sites', 'sites.id', 'alerts.site_id')
    .select(['alerts.id', 'sites.name as site', 'alerts.severity', 'alerts.title'])
    .select(['alerts.started_at as opened_at', 'alerts.resolved_at'])
    .where('alerts.client_id', '=', clientId)
    .where('alerts.opened_at', '<', to)
    .where('alerts.confirmed_at', 'is not', null)
    .where(({ eb, and, or }) =>
      or([
        eb('alerts.resolved_at', 'is', null),
        and([
          eb('alerts.resolved_at', '>=', from),
          or([eb('alerts.suppressed_by', 'is', null), eb('alerts.suppressed_by', '=', 'no_channel')]),
        ]),
      ]),
    )
    .orderBy((eb) => eb.case().when('alerts.resolved_at', 'is', null).then(0).else(1).end())
    .orderBy('alerts.id', 'desc')
    .limit(MOST_ALERTS)
    .execute()
  return rows.map((row) => ({ ...row, severity: severityOf(row.severity) }))
}

const severityOf = (text: string): Severity => (text === 'critical' ? 'critical' : 'warning')
