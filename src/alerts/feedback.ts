import { AppError, newOrderedId, notFound } from '../lib/index.ts'
import { type Context, signedBy, writeAudit } from '../management/index.ts'
import type { FeedbackVerdict } from '../probes/index.ts'
import type { AlertFeedbackRow, Tables, Transaction } from '../store/index.ts'
import type { FeedbackRecord, GiveFeedback } from './alert-record.ts'
import { feedbackOf, feedbackRecord, learntEvent, removeFeedback } from './feedback-rows.ts'
import { lockAlert } from './write-transitions.ts'

/** The text in the timeline. */
const SAID: Readonly<Record<FeedbackVerdict, string>> = {
  not_a_problem: 'Not a problem: this time counts as usual, and it takes more for the next alert',
  real: 'This was real: this time does not count as usual',
}

/**
 * Records whether an alert was right, from which the probes that judge the site's counts learn. Replaces earlier feedback.
 *
 * @throws AppError `not_found`, or `conflict` when no probe learns from alerts of that kind
 */
export async function giveFeedback(ctx: Context, id: string, { verdict, by }: GiveFeedback): Promise<FeedbackRecord> {
  const row = await ctx.store.write.transaction().execute(async (trx) => {
    const alert = await lockAlert(trx, id)
    if (alert === undefined) throw notFound('Alert')
    const event_name = learntEvent(alert)
    if (event_name === undefined) throw new AppError('conflict', 'Nothing learns from feedback about such an alert')
    const before = await feedbackOf(trx, id)
    if (before?.verdict === verdict) return before
    const given = { verdict, given_at: ctx.clock.now(), given_by: signedBy(ctx, by) }
    const { site_id, started_at: began_at, resolved_at: ended_at } = alert
    const after: AlertFeedbackRow = { alert_id: id, site_id, event_name, began_at, ended_at, ...given }
    await trx
      .insertInto('alert_feedback')
      .values(after)
      .onConflict((conflict) => conflict.column('alert_id').doUpdateSet(given))
      .execute()
    await writeDown(trx, ctx, id, before, after)
    return after
  })
  return feedbackRecord(row)
}

/**
 * Deletes the feedback on an alert, so that the probes judge as if it had never been given. Does nothing when there is none.
 *
 * @throws AppError `not_found`
 */
export async function withdrawFeedback(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockAlert(trx, id)) === undefined) throw notFound('Alert')
    const before = await feedbackOf(trx, id)
    if (before === undefined) return
    await removeFeedback(trx, [id])
    await writeDown(trx, ctx, id, before, undefined)
  })
}

/** Records the change in the timeline and in the audit log. */
async function writeDown(
  trx: Transaction<Tables>,
  ctx: Context,
  id: string,
  before: AlertFeedbackRow | undefined,
  after: AlertFeedbackRow | undefined,
): Promise<void> {
  const at = ctx.clock.now()
  const line =
    after === undefined
      ? { kind: 'unmarked', actor: ctx.actor, text: 'Feedback taken back' }
      : { kind: 'marked', actor: after.given_by, text: after.verdict === 'real' ? SAID.real : SAID.not_a_problem }
  await trx
    .insertInto('alert_events')
    .values({ alert_id: id, id: newOrderedId(at), at, ...line })
    .execute()
  const feedbackIn = (row: AlertFeedbackRow | undefined) => ({ feedback: row?.verdict ?? null })
  const verb = after === undefined ? 'unmark' : 'mark'
  await writeAudit(trx, ctx, [{ entity: 'alert', verb, id, before: feedbackIn(before), after: feedbackIn(after) }])
}
