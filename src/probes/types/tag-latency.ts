import { Type } from 'typebox'
import type { Snapshot } from '../../analytics/index.ts'
import {
  tagLatency as judgeLatency,
  type LatencyBucket,
  latencySoFar,
  localTime,
  MIN_USUAL_EXECUTIONS,
  MIN_USUAL_HOURS,
  sameHoursBefore,
  TAG_LATENCY_DEFAULTS,
  type TagLatencies,
} from '../../detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE, number } from '../../lib/index.ts'
import { LATENCY_BOUNDS_MS, LATENCY_COLUMNS } from '../../rollups/index.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { hourOf, LearntCache, ofEachStore } from '../counts/learnt-cache.ts'
import { readTagCounts, readTagHours, type TagBucket } from '../counts/tag-counts.ts'
import { lastDay, stretchesOf, windowMinutes } from '../counts/timeline.ts'
import { learning, localDay, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const COLUMNS = ['executions', 'success', 'timeout', 'total_ms', 'timed', ...LATENCY_COLUMNS] as const
const DAYS_COMPARED = 7

/** The compared hours that lie before the last day, by tag. */
type Earlier = ReadonlyMap<string, readonly LatencyBucket[]>

interface Counts {
  earlier: Earlier
  recent: ReadonlyMap<string, readonly TagBucket<(typeof COLUMNS)[number]>[]>
}

/** Cached hours of tags: 0.25 KB each. */
const HOURS_KEPT = 40_000

const cacheOf = ofEachStore(() => new LearntCache<Earlier>(HOURS_KEPT))

const times = (byDefault: number, description: string) =>
  Type.Number({ minimum: 1, maximum: 100, default: byDefault, description })
const milliseconds = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 5_000, default: byDefault, description })

export const tagLatency = defineProbeType({
  name: 'tag_latency',
  title: 'Tag latency',
  description:
    'Which tags take much longer than at the same hours of the last week (95th percentile), and which succeed too soon to have been answered.',
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  config: Type.Object(
    {
      window_minutes: windowMinutes(TAG_LATENCY_DEFAULTS.window_minutes),
      min_executions: Type.Integer({
        minimum: 10,
        maximum: 100_000,
        default: TAG_LATENCY_DEFAULTS.min_executions,
        description:
          'A tag with fewer timed executions in the window is judged over as much of the last 24 hours as it takes to reach this number',
      }),
      warning_factor: times(
        TAG_LATENCY_DEFAULTS.warning_factor,
        'A tag is a warning only when it takes more than this many times its usual time',
      ),
      warning_increase_ms: milliseconds(
        TAG_LATENCY_DEFAULTS.warning_increase_ms,
        'A tag is a warning only when it takes at least this many ms longer than usual',
      ),
      critical_factor: times(
        TAG_LATENCY_DEFAULTS.critical_factor,
        'A tag is critical only when it takes more than this many times its usual time',
      ),
      critical_increase_ms: milliseconds(
        TAG_LATENCY_DEFAULTS.critical_increase_ms,
        'A tag is critical only when it takes at least this many ms longer than usual',
      ),
    },
    { additionalProperties: false },
  ),
  checkConfig: (config) =>
    (['factor', 'increase_ms'] as const)
      .filter((name) => config[`critical_${name}`] < config[`warning_${name}`])
      .map((name) => ({ path: `/critical_${name}`, message: `must not be below warning_${name}` })),
  figure: (value, write) => `${write(value)} ms`,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    const end = floorTo(now, MINUTE)
    const timeline = lastDay(end, Math.max(2 * HOUR, config.window_minutes * MINUTE))
    const clock = localTime(site.timezone)
    const hour = floorTo(end, HOUR)
    const usualHours = new Set(
      [-HOUR, 0, HOUR].flatMap((shift) => sameHoursBefore(clock, hour + shift, 1, DAYS_COMPARED)),
    )
    const recentFrom = timeline.buckets[0]?.from ?? end
    const earlierHours = [...usualHours].filter((usual) => usual < recentFrom)
    const key = `${site.site_no} ${site.timezone} ${recentFrom}`
    return judgeCounts(
      { store, site, now },
      Math.min(...usualHours),
      async (snapshot) => ({
        earlier: await cacheOf(store).learnt(key, end, hourOf(end), () => readEarlier(snapshot, earlierHours), sizeOf),
        recent: await readTagCounts(snapshot, timeline, end, COLUMNS),
      }),
      (counts) => judgeLatency({ now: end, bounds: LATENCY_BOUNDS_MS, tags: latenciesOf(counts, usualHours) }, config),
      (counts) => {
        const nearest = nearestOf(latenciesOf(counts, usualHours), config.min_executions)
        if (nearest === null)
          return noData('No tag has reported an execution time in the last 24 hours (batches do not)')
        return learning(soFar(nearest, config.min_executions, end, site.timezone))
      },
    )
  },
})

async function readEarlier(snapshot: Snapshot, hours: readonly number[]): Promise<Earlier> {
  const tags = await readTagHours(snapshot, 'tag_rollups', stretchesOf(hours), COLUMNS)
  return new Map(Array.from(tags, ([key, buckets]) => [key, buckets.map(latencyBucket)]))
}

const sizeOf = (earlier: Earlier): number => [...earlier.values()].reduce((sum, hours) => sum + hours.length, 0)

function latenciesOf({ recent, earlier }: Counts, usualHours: ReadonlySet<number>): TagLatencies[] {
  return Array.from(new Set([...recent.keys(), ...earlier.keys()]), (tag_key) => {
    const lastDay = (recent.get(tag_key) ?? []).map(latencyBucket)
    const ofLastDay = lastDay.filter(({ from, to }) => to - from === HOUR && usualHours.has(from))
    return { tag_key, recent: lastDay, usual: [...(earlier.get(tag_key) ?? []), ...ofLastDay] }
  })
}

interface Nearest {
  tag_key: string
  timed: number
  hours: number
}

/** Returns the tag that is closest to being judged; null when none ran with a time. */
function nearestOf(tags: readonly TagLatencies[], needed: number): Nearest | null {
  const rank = ({ timed, hours }: Nearest) => Math.min(1, timed / needed) + Math.min(1, hours / MIN_USUAL_HOURS)
  const timed = tags.map((tag) => ({ tag_key: tag.tag_key, ...latencySoFar(tag) })).filter((tag) => tag.timed > 0)
  return timed.toSorted((a, b) => rank(b) - rank(a))[0] ?? null
}

/** Each day adds three hours to the past: the current hour and its two neighbours. */
function soFar({ tag_key, timed, hours }: Nearest, needed: number, now: number, timezone: string): string {
  if (timed < needed) {
    return `“${tag_key}” ran ${timed} of ${needed} times with a time in the last 24 hours; judging starts at ${number(needed)}`
  }
  const days = Math.max(1, Math.ceil((MIN_USUAL_HOURS - hours) / 3))
  return (
    `“${tag_key}” is known in ${hours} of ${MIN_USUAL_HOURS} hours around this time of day (${MIN_USUAL_EXECUTIONS} executions with a time in each), ` +
    `judging starts ${localDay(now + days * DAY, timezone)} if this continues`
  )
}

function latencyBucket(bucket: TagBucket<(typeof COLUMNS)[number]>): LatencyBucket {
  const { from, to, executions, success, timeout, timed } = bucket
  const histogram = LATENCY_COLUMNS.map((column) => bucket[column])
  const counted = histogram.reduce((sum, count) => sum + count, 0)
  // Batches add to the times but not to the histogram, so their time is taken out in proportion.
  const total_ms = timed === 0 ? 0 : (bucket.total_ms * counted) / timed
  return { from, to, executions, success, timeout, total_ms, histogram }
}
