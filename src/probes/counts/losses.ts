import { identityOf, readSnapshot, type Snapshot, sumStretches } from '../../analytics/index.ts'
import { isLongOutage, readOutages } from '../../cluster/index.ts'
import { type HourCounts, type Loss, lossOf, type Ran } from '../../detection/index.ts'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import { readPauses } from '../../management/index.ts'
import { GRAIN, isNamed, OUTCOMES, type TimeRange } from '../../rollups/index.ts'
import { merged } from '../../uptime/index.ts'
import type { Counting } from './judge-counts.ts'
import { siteEvents, usualCaches } from './site-events.ts'

/** A site's losses in a stretch of time. */
export interface LossCounts {
  /** The known events. */
  names: readonly string[]
  /**
   * Returns how many events of a name (null: all together) were expected and did not come; null when nothing is known.
   *
   * @param affected the events that may be lost; null: any
   */
  events: (name: string | null, affected: ReadonlySet<string> | null) => Loss | null
  /** Executions of all tags together. */
  executions: number
  /** By tag key. */
  tags: ReadonlyMap<string, TagCounts>
}

export interface TagCounts {
  executions: number
  bad: number
  /** In the whole hours that the stretch touches, by event; empty when the site sends batches. */
  onEvents: ReadonlyMap<string, TagOnEventCounts>
}

interface TagOnEventCounts extends Ran {
  bad: number
  /** The same in the week before. */
  before: Ran
}

const CAME = ['events', 'total'] as const
const RAN = ['executions', 'success'] as const

/** Weeks to compare with. They end where the stretch begins, so a lasting cause is not part of what is usual. */
const WEEKS = 4
/** How far back to look for the events that a tag runs on. */
const REFERENCE = 7 * DAY
/** Minute rows are kept for at least two days; for older stretches, whole hours are read. */
const MINUTES_KEPT = 2 * DAY - HOUR

const cacheOf = usualCaches()

/**
 * Reads how much was lost. The first time for a stretch, it costs as much as a run of `data_volume`; later a tenth of that.
 *
 * @param range what is usual ends where it begins
 * @param tags keys of the tags whose executions are needed
 */
export async function readLosses(counting: Counting, range: TimeRange, tags: readonly string[]): Promise<LossCounts> {
  const { store, site, now } = counting
  const whole = wholeRows(range, now)
  const { usual, recent } = await siteEvents({ ...counting, now: whole.from }, WEEKS, cacheOf(store))
  // A partial minute of events would look like a fall. Executions in the current minute did happen, so they count.
  const ran = { from: whole.from, to: Math.max(whole.to, ceilTo(range.to, MINUTE)) }
  const from = floorTo(whole.from, DAY) - REFERENCE
  return readSnapshot(store, site.site_no, { from, to: ceilTo(ran.to, HOUR) }, async (snapshot) => {
    const hours = await hourCounts(snapshot, whole)
    const outages = await readOutages(snapshot.db, whole.from, whole.to)
    const pauses = await readPauses(snapshot.db, site, whole.from, whole.to)
    const leftOut = merged([...outages.filter(isLongOutage), ...pauses])
    const input = { range: whole, usual, before: recent, hours, outages: leftOut }
    return {
      names: usual.names,
      events: (name, affected) => lossOf(name, input, affected),
      ...(await tagCounts(snapshot, ran, new Set(tags))),
    }
  })
}

function wholeRows({ from, to }: TimeRange, now: number): TimeRange {
  const grain = from < now - MINUTES_KEPT ? HOUR : MINUTE
  const start = floorTo(from, grain)
  return { from: start, to: Math.max(start + MINUTE, to < now - MINUTES_KEPT ? ceilTo(to, HOUR) : floorTo(to, MINUTE)) }
}

async function hourCounts(snapshot: Snapshot, range: TimeRange): Promise<Map<number, HourCounts>> {
  const rows = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [{ ...range, coarsest: GRAIN.hour }],
    by: ['event_name'],
    columns: CAME,
    slots: { length: HOUR, end: ceilTo(range.to, HOUR) },
  })
  const byHour = Map.groupBy(rows, ({ at }) => floorTo(at, HOUR))
  return new Map(
    Array.from(byHour, ([hour, inHour]) => {
      const events = new Map<string, number>()
      for (const { event_name, events: count } of inHour) {
        if (isNamed(event_name)) events.set(event_name, (events.get(event_name) ?? 0) + count)
      }
      return [hour, { total: inHour.reduce((sum, { total }) => sum + total, 0), events }] as const
    }),
  )
}

async function tagCounts(
  snapshot: Snapshot,
  range: TimeRange,
  tags: ReadonlySet<string>,
): Promise<Pick<LossCounts, 'executions' | 'tags'>> {
  const rows = await sumStretches(snapshot, {
    table: 'tag_rollups',
    stretches: [{ ...range, coarsest: GRAIN.hour }],
    by: ['container_id', 'tag_key'],
    columns: RAN,
  })
  const executions = rows.reduce((sum, row) => sum + row.executions, 0)
  if (tags.size === 0) return { executions, tags: new Map() }
  const { keyOf } = await identityOf(snapshot.db, snapshot.siteNo)
  // A tag may stop in the middle of an hour, and its loss is dated from that hour's end: hence the hour before.
  const hours = { from: floorTo(range.from, HOUR) - HOUR, to: ceilTo(range.to, HOUR) }
  const before = { from: floorTo(range.from, DAY) - REFERENCE, to: hours.from }
  const since = await runsOnEvents(snapshot, hours, keyOf)
  const usually = await runsOnEvents(snapshot, before, keyOf)
  return {
    executions,
    tags: new Map(
      Array.from(tags, (tag) => {
        const own = rows.filter(({ container_id, tag_key }) => keyOf(container_id, tag_key) === tag)
        const [ran, succeeded] = (['executions', 'success'] as const).map((column) =>
          own.reduce((sum, row) => sum + row[column], 0),
        )
        const names = new Set([...(since.tags.get(tag)?.keys() ?? []), ...(usually.tags.get(tag)?.keys() ?? [])])
        const onEvents = new Map(
          Array.from(names, (name) => {
            const { runs, bad } = since.tags.get(tag)?.get(name) ?? NONE
            const earlier = {
              occurrences: usually.events.get(name) ?? 0,
              runs: usually.tags.get(tag)?.get(name)?.runs ?? 0,
            }
            return [name, { occurrences: since.events.get(name) ?? 0, runs, bad, before: earlier }] as const
          }),
        )
        return [tag, { executions: ran ?? 0, bad: (ran ?? 0) - (succeeded ?? 0), onEvents }] as const
      }),
    ),
  }
}

const NONE = { runs: 0, bad: 0 }

/** Counts how often events came in whole hours, and how often tags ran on them. */
async function runsOnEvents(
  snapshot: Snapshot,
  range: TimeRange,
  keyOf: (containerId: string, tagKey: string) => string,
) {
  const came = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [{ ...range, coarsest: GRAIN.hour }],
    by: ['event_name'],
    columns: CAME,
  })
  const pairs = await sumStretches(snapshot, {
    table: 'event_tag_rollups',
    stretches: [{ ...range, coarsest: GRAIN.hour }],
    by: ['container_id', 'event_name', 'tag_key'],
    columns: OUTCOMES,
  })
  const events = new Map<string, number>()
  for (const { event_name, events: count } of came) events.set(event_name, (events.get(event_name) ?? 0) + count)
  const tags = new Map<string, Map<string, { runs: number; bad: number }>>()
  for (const { container_id, event_name, tag_key, ...outcomes } of pairs) {
    if (!isNamed(event_name) || !isNamed(tag_key)) continue
    const ofTag = tags.get(keyOf(container_id, tag_key)) ?? new Map<string, { runs: number; bad: number }>()
    tags.set(keyOf(container_id, tag_key), ofTag)
    const known = ofTag.get(event_name) ?? NONE
    const runs = OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0)
    ofTag.set(event_name, { runs: known.runs + runs, bad: known.bad + runs - outcomes.success })
  }
  return { events, tags }
}
