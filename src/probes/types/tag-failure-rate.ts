import { tagFailureRate as judgeFailureRate, TAG_FAILURE_RATE_DEFAULTS } from '../../detection/index.ts'
import { ceilTo, DAY, HOUR, MINUTE, percent } from '../../lib/index.ts'
import { OUTCOMES } from '../../rollups/index.ts'
import { badExecutionsConfig, checkShares, mostExecutions } from '../counts/bad-executions.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { readTagCounts } from '../counts/tag-counts.ts'
import { lastDay } from '../counts/timeline.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

export const tagFailureRate = defineProbeType({
  name: 'tag_failure_rate',
  title: 'Tag failures',
  description: 'Which tags end in failure, timeout or exception too often, judged tag by tag.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: badExecutionsConfig(TAG_FAILURE_RATE_DEFAULTS, 'ran', 'bad executions'),
  checkConfig: checkShares,
  figure: percent,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    // Includes the current minute: a share does not need a complete one, and people who try it out look at once.
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
        const most = mostExecutions(counts, OUTCOMES, 'ran', config.min_executions)
        return most === null ? noData('No tag has run in the last 24 hours') : learning(most)
      },
    )
  },
})
