import { isoTime } from '../lib/index.ts'
import { FEEDBACK_VERDICTS, learnsFromFeedback, subjectKey, WHOLE } from '../probes/index.ts'
import {
  type AlertFeedbackRow,
  type AlertRow,
  chunksOf,
  type Kysely,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import type { FeedbackRecord } from './alert-record.ts'

/**
 * Returns the event that feedback on this alert adjusts the probe for; null for all events of the site, undefined when no probe
 * learns from such an alert.
 */
export function learntEvent({
  probe_type,
  subject,
  subject_label: label,
}: Pick<AlertRow, 'probe_type' | 'subject' | 'subject_label'>): string | null | undefined {
  if (!learnsFromFeedback(probe_type)) return undefined
  if (subject === WHOLE) return null
  return label !== null && subject === subjectKey({ event_name: label }) ? label : undefined
}

export const feedbackOf = (db: Kysely<Tables>, alertId: string): Promise<AlertFeedbackRow | undefined> =>
  db.selectFrom('alert_feedback').selectAll().where('alert_id', '=', alertId).executeTakeFirst()

export const feedbackRecord = ({ verdict, given_at, given_by }: AlertFeedbackRow): FeedbackRecord => ({
  // The column is text, so the value is narrowed to what we write into it.
  verdict: FEEDBACK_VERDICTS.find((known) => known === verdict) ?? 'real',
  by: given_by,
  at: isoTime(given_at),
})

/** Ends the period that the alerts' feedback covers. Call it when they are resolved. */
export async function endFeedback(trx: Transaction<Tables>, alertIds: readonly string[], now: number): Promise<void> {
  for (const ids of chunksOf(alertIds)) {
    await trx.updateTable('alert_feedback').set({ ended_at: now }).where('alert_id', 'in', ids).execute()
  }
}

/**
 * Deletes the feedback on these alerts.
 *
 * @param alertIds at most as many as fit in one statement
 */
export async function removeFeedback(trx: Transaction<Tables>, alertIds: readonly string[]): Promise<void> {
  await trx.deleteFrom('alert_feedback').where('alert_id', 'in', alertIds).execute()
}
