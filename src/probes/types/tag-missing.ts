import { Type } from 'typebox'
import {
  tagMissing as judgeMissing,
  TAG_MISSING_DEFAULTS,
  type TagMissingConfig,
  type TagMissingInput,
} from '../../detection/index.ts'
import { counted, DAY, number, percent } from '../../lib/index.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { hourOf, LearntCache, ofEachStore } from '../counts/learnt-cache.ts'
import { type PastPairs, pairBuckets, readPairCounts, readPastPairs } from '../counts/pair-counts.ts'
import { daysSeen, learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

/** Cached pairs of tag and event: a third of a kilobyte each. */
const PAIRS_KEPT = 40_000

const cacheOf = ofEachStore(() => new LearntCache<PastPairs>(PAIRS_KEPT))

export const tagMissing = defineProbeType({
  name: 'tag_missing',
  title: 'Missing tags',
  description: 'Which tags no longer run on an event on which they always ran. Needs per-event payloads.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      reference_days: Type.Integer({
        minimum: 1,
        maximum: 14,
        default: TAG_MISSING_DEFAULTS.reference_days,
        description: 'Number of days that show on which events a tag runs',
      }),
      reference_share: Type.Number({
        minimum: 0.5,
        maximum: 1,
        default: TAG_MISSING_DEFAULTS.reference_share,
        description:
          "A tag belongs to an event when it ran on at least this share of the event's occurrences in these days",
      }),
      reference_occurrences: Type.Integer({
        minimum: 20,
        maximum: 1_000_000,
        default: TAG_MISSING_DEFAULTS.reference_occurrences,
        description: 'An event that occurred less often in these days has no tags that belong to it',
      }),
      recent_share: Type.Number({
        minimum: 0,
        maximum: 0.5,
        default: TAG_MISSING_DEFAULTS.recent_share,
        description: "A tag is missing when it ran on less than this share of the event's last occurrences",
      }),
      recent_occurrences: Type.Integer({
        minimum: 10,
        maximum: 100_000,
        default: TAG_MISSING_DEFAULTS.recent_occurrences,
        description: 'A tag is judged by at least this many last occurrences of an event',
      }),
    },
    { additionalProperties: false },
  ),
  figure: percent,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    const buckets = pairBuckets(now)
    return judgeCounts(
      { store, site, now },
      buckets.days[0]?.from ?? now,
      async (snapshot) => {
        const read = () => readPastPairs(snapshot, buckets)
        const past = await cacheOf(store).learnt(`${site.site_no}`, now, hourOf(now), read, ({ days }) => days.size)
        return readPairCounts(snapshot, buckets, past)
      },
      (counts) => judgeMissing(counts, config),
      (counts) =>
        counts.pairs.length === 0
          ? noData('No payload has reported which tags ran on which event (batches do not)')
          : learningPairs(counts, config, site.timezone),
    )
  },
})

/** Says how much is missing: whole UTC days in which a tag ran, and enough occurrences in them. */
function learningPairs(input: TagMissingInput, config: TagMissingConfig, timezone: string): Unjudged {
  const today = input.days.at(-1)?.to ?? 0
  const days = Math.max(0, ...input.pairs.map((pair) => pair.days.filter((runs) => runs > 0).length))
  if (days === 0) return learning(daysSeen(0, 1, today + DAY, timezone))
  const most = Math.max(0, ...input.pairs.map((pair) => pair.days.reduce((sum, runs) => sum + runs, 0)))
  const recent = Math.max(0, ...input.events.map(({ hours }) => hours.reduce((sum, count) => sum + count, 0)))
  return learning(
    `in ${counted(days, 'whole day')} no tag ran on more than ${number(most)} occurrences of an event, and no event came more than ${number(recent)} times in the last 24 hours; ` +
      `a tag that ran on nearly all of ${number(config.reference_occurrences)} is judged once its event comes ${number(config.recent_occurrences)} times`,
  )
}
