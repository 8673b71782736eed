import { DAY, floorTo, HOUR } from '../../src/lib/index.ts'
import { EVENT_COLUMNS, GRAIN, TAG_COLUMNS } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'

/** Ten in the morning of a Friday, UTC. */
export const NOW = Date.parse('2026-11-20T10:00:00.000Z')

/** What a site sends in an hour. */
export interface Hour {
  page_view?: number
  purchase?: number
  /** How often Meta fails of its runs, one on each purchase. */
  failures?: number
}

/** Rolled up rows, as the roll-up writes them: hours, and the days over them. */
export async function writeHours(
  store: Store,
  site: Pick<SiteRow, 'site_no'>,
  hours: readonly (Hour & { at: number })[],
  tagKey = 'Meta CAPI',
): Promise<void> {
  const days = Map.groupBy(hours, ({ at }) => floorTo(at, DAY))
  const buckets = [
    ...hours.map((hour) => ({ grain: GRAIN.hour, bucket: hour.at, hours: [hour] })),
    ...Array.from(days, ([bucket, ofDay]) => ({ grain: GRAIN.day, bucket, hours: ofDay })),
  ]
  const key = { site_no: site.site_no, container_id: 'GTM-ABC1234' }
  const events = buckets.flatMap(({ grain, bucket, hours: within }) =>
    (['page_view', 'purchase'] as const).map((event_name) => {
      const events = sumOf(within, event_name)
      return { ...key, grain, bucket, event_name, ...zeros(EVENT_COLUMNS), events, total: events }
    }),
  )
  const tags = buckets.map(({ grain, bucket, hours: within }) => {
    const [executions, failure] = [sumOf(within, 'purchase'), sumOf(within, 'failures')]
    const counts = { executions, failure, success: executions - failure, timed: executions, le_250: executions }
    return { ...key, grain, bucket, tag_key: tagKey, ...zeros(TAG_COLUMNS), ...counts }
  })
  // Of another tag in the same hours the events are there.
  await store.write
    .insertInto('event_rollups')
    .values(events)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await store.write.insertInto('tag_rollups').values(tags).execute()
}

const zeros = <C extends string>(columns: readonly C[]): Record<C, number> =>
  Object.fromEntries(columns.map((column) => [column, 0])) as Record<C, number>

const USUAL: Required<Hour> = { page_view: 1_000, purchase: 100, failures: 1 }

const sumOf = (hours: readonly Hour[], field: keyof Hour): number =>
  hours.reduce((sum, hour) => sum + (hour[field] ?? USUAL[field]), 0)

/** Weeks of the same two hours each day, a little more and less by chance, and then the last day as `last` says. */
export async function sendWeeks(store: Store, site: SiteRow, last: Hour, weeks = 3): Promise<void> {
  const today = floorTo(NOW, DAY)
  const past = Array.from({ length: 7 * weeks + 1 }, (_, index) => {
    const hour = { page_view: 1_000 + 20 * (index % 3), purchase: 100 + (index % 4), failures: index % 3 }
    const day = today - (index + 1) * DAY
    return [3, 20].map((at) => ({ ...hour, at: day + at * HOUR }))
  })
  // The window of the morning is from 09:00 of the day before.
  const before = past.flat().filter(({ at }) => at < NOW - DAY)
  await writeHours(store, site, [...before, { ...last, at: NOW - 14 * HOUR }, { ...last, at: NOW - 7 * HOUR }])
}
