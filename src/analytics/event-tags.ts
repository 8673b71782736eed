import { GRAIN, OUTCOMES } from '../rollups/index.ts'
import type { OutcomeCounts } from '../store/index.ts'
import { type Sums, sumBy } from './merge.ts'
import type { Snapshot } from './snapshot.ts'
import { isOneOf, sumRollups, totals } from './sums.ts'
import type { TagIdentity } from './tag-identity.ts'
import type { ReportWindow } from './window.ts'

/** How a tag ended on an event. */
export interface EventTagReport extends OutcomeCounts {
  event_name: string
  tag_key: string
  executions: number
}

/**
 * Outcomes per event and tag over the whole UTC hours that `window` touches; only per-event payloads say on which event
 * a tag ran.
 *
 * @param rawKeys only rows with these keys
 */
export async function eventTags(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
  rawKeys?: readonly string[],
): Promise<EventTagReport[]> {
  const rows = await sumRollups(snapshot.db, {
    table: 'event_tag_rollups',
    siteNo: snapshot.siteNo,
    budget: snapshot.budget,
    segments: snapshot.segments(window.hours, window.hourRows(GRAIN.day)),
    by: ['container_id', 'event_name', 'tag_key'],
    measures: totals(OUTCOMES),
    ...(rawKeys === undefined ? {} : { where: isOneOf('tag_key', rawKeys) }),
  })
  // Names may hold any character, so the pair is kept apart by being nested.
  return [...Map.groupBy(rows, (row) => row.event_name)].flatMap(([event_name, ofEvent]) => {
    const tags = sumBy(ofEvent, OUTCOMES, (row) => identity.keyOf(row.container_id, row.tag_key))
    return Array.from(tags, ([tag_key, sums]) => ({ event_name, tag_key, executions: executions(sums), ...sums }))
  })
}

const executions = (sums: Sums<(typeof OUTCOMES)[number]>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + sums[outcome], 0)
