import { vendorStatus as judgeVendorStatus, VENDOR_STATUS_DEFAULTS } from '../../detection/index.ts'
import { ceilTo, DAY, HOUR, MINUTE, percent } from '../../lib/index.ts'
import { RESPONSE_COLUMNS } from '../../rollups/index.ts'
import { badExecutionsConfig, checkShares, mostExecutions } from '../counts/bad-executions.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { readTagSignals } from '../counts/tag-counts.ts'
import { lastDay } from '../counts/timeline.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

export const vendorStatus = defineProbeType({
  name: 'vendor_status',
  title: 'Vendor responses',
  description: "Which tags' vendors too often answer with 4xx or 5xx, or not at all, although the tags may succeed.",
  kind: 'data',
  siteFields: [],
  needs: [],
  config: badExecutionsConfig(VENDOR_STATUS_DEFAULTS, 'was answered', 'refused executions'),
  checkConfig: checkShares,
  figure: percent,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    const end = ceilTo(now, MINUTE)
    const timeline = lastDay(end, Math.max(2 * HOUR, config.window_minutes * MINUTE))
    return judgeCounts(
      { store, site, now },
      end - 2 * DAY,
      (snapshot) => readTagSignals(snapshot, timeline, end, RESPONSE_COLUMNS),
      (counts) => {
        const tags = Array.from(counts, ([tag_key, buckets]) => ({ tag_key, buckets }))
        return judgeVendorStatus({ now: end, tags }, config)
      },
      (counts) => {
        const most = mostExecutions(counts, RESPONSE_COLUMNS, 'was answered', config.min_executions)
        return most === null
          ? noData('No tag has reported how its vendor answered in the last 24 hours: its template needs the snippet')
          : learning(most)
      },
    )
  },
})
