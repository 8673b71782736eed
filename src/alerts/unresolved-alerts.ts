import type { Kysely, Tables } from '../store/index.ts'
import { type Subject, subjectOf } from './machine.ts'
import { SEVERITIES, severityOf, stateOf } from './record.ts'

/** What the status of a site or a client needs of an unresolved alert. Times are epoch ms. */
export interface UnresolvedAlert {
  id: string
  clientId: string
  siteId: string
  probeId: string
  /** `check`: it is about our own check, and says nothing of the site. */
  subject: Subject
  severity: (typeof SEVERITIES)[number]
  state: 'open' | 'acknowledged' | 'resolved'
  title: string
  /** When it began. */
  startedAt: number
  openedAt: number
}

/** All unresolved alerts, the worst first, of equal ones the oldest. */
export async function unresolvedAlerts(db: Kysely<Tables>): Promise<UnresolvedAlert[]> {
  const rows = await db
    .selectFrom('alerts')
    .select(['id', 'client_id', 'site_id', 'probe_id', 'subject', 'severity', 'state', 'title', 'started_at'])
    .select('opened_at')
    .where('state', '<>', 'resolved')
    .orderBy('id')
    .execute()
  return rows
    .map((row) => ({
      id: row.id,
      clientId: row.client_id,
      siteId: row.site_id,
      probeId: row.probe_id,
      subject: subjectOf(row),
      severity: severityOf(row),
      state: stateOf(row),
      title: row.title,
      startedAt: row.started_at,
      openedAt: row.opened_at,
    }))
    .toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
}
