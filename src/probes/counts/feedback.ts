import { FEEDBACK_VERDICTS, type Feedback } from '../../detection/index.ts'
import type { Kysely, Tables } from '../../store/index.ts'

/** The types that judge by what is usual for a site's events. */
const LEARNING = ['data_volume', 'data_freshness']

/** @param probeType of an alert */
export const learnsFromFeedback = (probeType: string): boolean => LEARNING.includes(probeType)

/**
 * What people said of a site's alerts about its counts. An alert that is not resolved lasts until now.
 *
 * @param now what the counts end at
 */
export async function readFeedback(db: Kysely<Tables>, siteId: string, now: number): Promise<Feedback[]> {
  const rows = await db
    .selectFrom('alert_feedback')
    .select(['event_name', 'verdict', 'began_at', 'ended_at'])
    .where('site_id', '=', siteId)
    .orderBy('alert_id')
    .execute()
  return rows.flatMap(({ event_name, verdict: text, began_at, ended_at }) => {
    // The column is text; another version may know more.
    const verdict = FEEDBACK_VERDICTS.find((known) => known === text)
    return verdict === undefined ? [] : [{ verdict, name: event_name, from: began_at, to: ended_at ?? now }]
  })
}
