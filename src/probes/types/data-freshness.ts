import { Type } from 'typebox'
import {
  DATA_FRESHNESS_DEFAULTS,
  dataFreshness as judgeFreshness,
  localTime,
  volumeBaseline,
} from '../../detection/index.ts'
import { lastEventAt } from '../../management/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { hourTotals, recentTotals } from '../volume-counts.ts'

const WEEKS = 4

export const dataFreshness = defineProbeType({
  name: 'data_freshness',
  title: 'Data freshness',
  description: 'Whether the site still sends: silence is bad when events are usual at this hour of the week.',
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  config: Type.Object(
    {
      min_silence_minutes: Type.Integer({
        minimum: 1,
        maximum: 1_440,
        default: DATA_FRESHNESS_DEFAULTS.min_silence_minutes,
        description: 'A shorter silence is never bad',
      }),
      gaps: Type.Number({
        minimum: 1,
        maximum: 100,
        default: DATA_FRESHNESS_DEFAULTS.gaps,
        description: 'A silence is bad when it is longer than this many usual gaps between events',
      }),
    },
    { additionalProperties: false },
  ),
  defaultIntervalSeconds: 300,
  async run({ site, config, now, store }) {
    const clock = localTime(site.timezone)
    const [last, recent, hours] = await Promise.all([
      lastEventAt(store.read, site.site_no),
      recentTotals(store, site.site_no, now),
      hourTotals(store, site.site_no, clock, now, WEEKS),
    ])
    const baseline = volumeBaseline({ hours, knownFrom: site.created_at, outages: [] }, clock, now, WEEKS)
    return judgeFreshness({ now, last_event_at: last, recent, baseline }, config)
  },
})
