import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import type { AlertEventRow, AlertRow } from '../../store/index.ts'
import { EVENT_KINDS, subjectOf } from '../machine.ts'
import { resolutionOf, severityOf, stateOf } from '../record.ts'
import type { AlertRecord } from './schemas.ts'

export const alertRecord = (row: AlertRow): AlertRecord => ({
  id: row.id,
  client_id: row.client_id,
  site_id: row.site_id,
  probe_id: row.probe_id,
  probe_type: row.probe_type,
  subject: subjectOf(row),
  subject_key: row.subject,
  subject_label: row.subject_label,
  severity: severityOf(row),
  state: stateOf(row),
  title: row.title,
  message: row.message,
  started_at: isoTime(row.started_at),
  opened_at: isoTime(row.opened_at),
  last_seen_at: isoTime(row.last_seen_at),
  acknowledged_at: isoTimeOrNull(row.acknowledged_at),
  acknowledged_by: row.acknowledged_by,
  resolved_at: isoTimeOrNull(row.resolved_at),
  resolution: resolutionOf(row),
  occurrences: row.occurrences,
  suppressed_by: row.suppressed_by,
  is_flapping: row.is_flapping === 1,
  first_notified_at: isoTimeOrNull(row.first_notified_at),
})

export const timelineEntry = ({ at, kind, actor, text }: AlertEventRow) => ({
  at: isoTime(at),
  kind: EVENT_KINDS.find((known) => known === kind) ?? 'notified',
  actor,
  text,
})
