import { isoTime } from '../../lib/index.ts'
import type { ClientRow } from '../../store/index.ts'
import { planOf } from '../plans.ts'
import { digestOf } from './digest.ts'
import type { ClientRecord } from './schemas.ts'

/** A client as the interface shows it. */
export const clientRecord = (row: ClientRow): ClientRecord => ({
  id: row.id,
  name: row.name,
  email: row.email,
  chat_webhook: row.chat_webhook,
  is_active: row.is_active === 1,
  plan: planOf(row),
  requests_per_second: row.requests_per_second,
  events_per_month: row.events_per_month,
  reminder_minutes: row.reminder_minutes,
  notify_resolved: row.notify_resolved === 1,
  notify_escalated: row.notify_escalated === 1,
  digest: digestOf(row),
  created_at: isoTime(row.created_at),
})

export const withoutSecrets = (record: ClientRecord): ClientRecord => ({ ...record, email: null, chat_webhook: null })
