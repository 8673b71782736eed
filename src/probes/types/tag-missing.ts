import { Type } from 'typebox'
import { tagMissing as judgeMissing, TAG_MISSING_DEFAULTS } from '../../detection/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { judgeCounts } from './counts/judge-counts.ts'
import { pairBuckets, readPairCounts } from './counts/pair-counts.ts'

export const tagMissing = defineProbeType({
  name: 'tag_missing',
  title: 'Missing tags',
  description: 'Which tags no longer run on an event on which they always did. Needs per-event payloads.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      reference_days: Type.Integer({
        minimum: 1,
        maximum: 14,
        default: TAG_MISSING_DEFAULTS.reference_days,
        description: 'A tag belongs to an event when in so many days …',
      }),
      reference_share: Type.Number({
        minimum: 0.5,
        maximum: 1,
        default: TAG_MISSING_DEFAULTS.reference_share,
        description: '… it ran on at least this share of …',
      }),
      reference_occurrences: Type.Integer({
        minimum: 20,
        maximum: 1_000_000,
        default: TAG_MISSING_DEFAULTS.reference_occurrences,
        description: '… at least so many occurrences',
      }),
      recent_share: Type.Number({
        minimum: 0,
        maximum: 0.5,
        default: TAG_MISSING_DEFAULTS.recent_share,
        description: 'It is missing when it ran on less than this share of …',
      }),
      recent_occurrences: Type.Integer({
        minimum: 10,
        maximum: 100_000,
        default: TAG_MISSING_DEFAULTS.recent_occurrences,
        description: '… the last occurrences, at least so many',
      }),
    },
    { additionalProperties: false },
  ),
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    const buckets = pairBuckets(now)
    return judgeCounts(
      { store, site, now },
      buckets.days[0]?.from ?? now,
      (snapshot) => readPairCounts(snapshot, buckets),
      (counts) => judgeMissing(counts, config),
      ({ pairs }) =>
        pairs.length === 0
          ? 'Not judged: no payload said which tags ran on which event (batches do not)'
          : `Still learning: needs a tag that runs on nearly all of ${config.reference_occurrences} occurrences of an event over whole days, and ${config.recent_occurrences} occurrences in the last 24 hours`,
    )
  },
})
