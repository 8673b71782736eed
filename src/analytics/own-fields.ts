import { FIELD_COLUMNS, NO_EVENT, type TimeRange } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type Presence, presence } from './score.ts'
import { type ReportContext, readSnapshot } from './snapshot.ts'
import { sumByInTurns, sumWindow } from './sums.ts'
import { type RangeQuery, reportWindow } from './window.ts'

/** How often a site's own parameter was present on the events that name it. */
export interface OwnField extends Presence {
  /** Null for batches, which do not name the event. */
  event_name: string | null
  field: string
}

export interface OwnFields extends TimeRange {
  site_id: string
  /** Grouped by event, those with the most events first, then by parameter. */
  fields: OwnField[]
}

/** @throws AppError `invalid_request` for a window that cannot be answered */
export async function ownFields(context: ReportContext, site: SiteRow, query: RangeQuery): Promise<OwnFields> {
  const window = reportWindow(context, site, query)
  const sums = await readSnapshot(
    context.store,
    site.site_no,
    window.range,
    async (snapshot) => {
      const rows = await sumWindow(snapshot, window, 'field_rollups', ['event_name', 'field'], FIELD_COLUMNS)
      return sumByInTurns(rows, FIELD_COLUMNS, ({ event_name, field }) => JSON.stringify([event_name, field]))
    },
    context.limits,
  )
  const fields = Array.from(sums, ([key, { present, total }]): OwnField => {
    const [eventName, field] = JSON.parse(key) as [string, string]
    return { event_name: eventName === NO_EVENT ? null : eventName, field, ...presence(present, total) }
  })
  return { site_id: site.id, ...window.range, fields: inOrder(fields) }
}

/** Keeps an event's fields together, as readers look at one event at a time. */
function inOrder(fields: readonly OwnField[]): OwnField[] {
  const most = new Map<string | null, number>()
  for (const { event_name, total } of fields) most.set(event_name, Math.max(most.get(event_name) ?? 0, total))
  const ofEvent = ({ event_name }: OwnField) => most.get(event_name) ?? 0
  return fields.toSorted(
    (a, b) => ofEvent(b) - ofEvent(a) || byText(a.event_name ?? '', b.event_name ?? '') || byText(a.field, b.field),
  )
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
