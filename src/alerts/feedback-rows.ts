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

/** The event that is learnt about from feedback on an alert, null for all events of the site; undefined where nothing is learnt. */
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
  // The column is text; our own writer wrote nothing else into it.
  verdict: FEEDBACK_VERDICTS.find((known) => known === verdict) ?? 'real',
  by: given_by,
  at: isoTime(given_at),
})

/** What was said of these alerts is about the time until now. To be called when they are resolved. */
export async function endFeedback(trx: Transaction<Tables>, alertIds: readonly string[], now: number): Promise<void> {
  for (const ids of chunksOf(alertIds)) {
    await trx.updateTable('alert_feedback').set({ ended_at: now }).where('alert_id', 'in', ids).execute()
  }
}

/** @param alertIds no more than one statement takes */
export async function removeFeedback(trx: Transaction<Tables>, alertIds: readonly string[]): Promise<void> {
  await trx.deleteFrom('alert_feedback').where('alert_id', 'in', alertIds).execute()
}
