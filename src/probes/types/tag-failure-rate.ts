import { Type } from 'typebox'
import { tagFailureRate as judgeFailureRate, TAG_FAILURE_RATE_DEFAULTS } from '../../detection/index.ts'
import { ceilTo, DAY, HOUR, MINUTE, percent } from '../../lib/index.ts'
import { OUTCOMES } from '../../rollups/index.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { readTagCounts, type TagBucket } from '../counts/tag-counts.ts'
import { lastDay, windowMinutes } from '../counts/timeline.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

export const tagFailureRate = defineProbeType({
  name: 'tag_failure_rate',
  title: 'Tag failures',
  description: 'Which tags end in failure, timeout or exception too often, judged tag by tag.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      window_minutes: windowMinutes(TAG_FAILURE_RATE_DEFAULTS.window_minutes),
      min_executions: Type.Integer({
        minimum: 5,
        maximum: 100_000,
        default: TAG_FAILURE_RATE_DEFAULTS.min_executions,
        description: 'A tag that ran less often in the window is judged over as much of the last 24 hours as it takes',
      }),
      warning_share: Type.Number({
        minimum: 0.001,
        maximum: 1,
        default: TAG_FAILURE_RATE_DEFAULTS.warning_share,
        description:
          'Share of bad executions that makes a warning when it is surely exceeded (lower Wilson bound, 95 %)',
      }),
      critical_share: Type.Number({
        minimum: 0.001,
        maximum: 1,
        default: TAG_FAILURE_RATE_DEFAULTS.critical_share,
        description: 'Likewise, for a critical result',
      }),
    },
    { additionalProperties: false },
  ),
  checkConfig: ({ warning_share, critical_share }) =>
    critical_share < warning_share ? [{ path: '/critical_share', message: 'must not be below warning_share' }] : [],
  figure: percent,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    // The minute under way counts: a tag's share needs no whole one, and who tries it out looks at once.
    const end = ceilTo(now, MINUTE)
    const timeline = lastDay(end, Math.max(2 * HOUR, config.window_minutes * MINUTE))
    return judgeCounts(
      { store, site, now },
      end - 2 * DAY,
      (snapshot) => readTagCounts(snapshot, timeline, end, OUTCOMES),
      (counts) => {
        const tags = Array.from(counts, ([tag_key, buckets]) => ({ tag_key, buckets }))
        return judgeFailureRate({ now: end, tags }, config)
      },
      (counts) => {
        const most = mostRuns(counts)
        return most === null
          ? noData('No tag has run in the last 24 hours')
          : learning(
              `“${most.tag_key}” ran ${most.runs} of ${config.min_executions} times in the last 24 hours, judges from the ${config.min_executions}th on`,
            )
      },
    )
  },
})

/** The tag that ran most, null when none did. */
function mostRuns(counts: ReadonlyMap<string, readonly TagBucket<(typeof OUTCOMES)[number]>[]>) {
  const runs = Array.from(counts, ([tag_key, recent]) => ({
    tag_key,
    runs: recent.reduce((sum, bucket) => sum + OUTCOMES.reduce((all, outcome) => all + bucket[outcome], 0), 0),
  }))
  return runs.filter((tag) => tag.runs > 0).toSorted((a, b) => b.runs - a.runs)[0] ?? null
}
