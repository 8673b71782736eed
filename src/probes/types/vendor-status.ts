import { Type } from 'typebox'
import { vendorStatus as judgeVendorStatus, VENDOR_STATUS_DEFAULTS } from '../../detection/index.ts'
import { ceilTo, DAY, HOUR, MINUTE, percent } from '../../lib/index.ts'
import { RESPONSE_COLUMNS } from '../../rollups/index.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { readTagSignals, type TagBucket } from '../counts/tag-counts.ts'
import { lastDay, windowMinutes } from '../counts/timeline.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

type Counts = ReadonlyMap<string, readonly TagBucket<(typeof RESPONSE_COLUMNS)[number]>[]>

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0.001, maximum: 1, default: byDefault, description })

export const vendorStatus = defineProbeType({
  name: 'vendor_status',
  title: 'Vendor responses',
  description: 'Whose vendors answer with 4xx, 5xx or not at all too often, although the tags may succeed.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      window_minutes: windowMinutes(VENDOR_STATUS_DEFAULTS.window_minutes),
      min_executions: Type.Integer({
        minimum: 5,
        maximum: 100_000,
        default: VENDOR_STATUS_DEFAULTS.min_executions,
        description:
          'A tag that was answered less often in the window is judged over as much of the last 24 hours as it takes',
      }),
      warning_share: share(
        VENDOR_STATUS_DEFAULTS.warning_share,
        'Share of refused executions that makes a warning when it is surely exceeded (lower Wilson bound, 95 %)',
      ),
      critical_share: share(VENDOR_STATUS_DEFAULTS.critical_share, 'Likewise, for a critical result'),
    },
    { additionalProperties: false },
  ),
  checkConfig: ({ warning_share, critical_share }) =>
    critical_share < warning_share ? [{ path: '/critical_share', message: 'must not be below warning_share' }] : [],
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
      (counts) => unjudged(counts, config.min_executions),
    )
  },
})

function unjudged(counts: Counts, needed: number) {
  const answers = Array.from(counts, ([tag_key, recent]) => ({
    tag_key,
    count: recent.reduce((sum, bucket) => sum + RESPONSE_COLUMNS.reduce((all, column) => all + bucket[column], 0), 0),
  }))
  const most = answers.toSorted((a, b) => b.count - a.count)[0]
  if (most === undefined || most.count === 0) {
    return noData('No tag has reported how its vendor answered in the last 24 hours: its template needs the snippet')
  }
  return learning(
    `“${most.tag_key}” was answered ${most.count} of ${needed} times in the last 24 hours, judges from the ${needed}th on`,
  )
}
