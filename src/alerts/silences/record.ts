import { isoTime } from '../../lib/index.ts'
import type { SilenceRow } from '../../store/index.ts'
import type { SilenceRecord } from './schemas.ts'

/** A silence as the interface shows it at `now`. */
export const silenceRecord = (row: SilenceRow, now: number): SilenceRecord => ({
  id: row.id,
  client_id: row.client_id,
  site_id: row.site_id,
  probe_id: row.probe_id,
  subject_key: row.subject_key,
  subject_label: row.subject_label,
  starts_at: isoTime(row.starts_at),
  ends_at: isoTime(row.ends_at),
  until_resolved: row.until_resolved === 1,
  comment: row.comment,
  state: now < row.starts_at ? 'scheduled' : now < row.ends_at ? 'active' : 'ended',
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
})
