import { Type } from 'typebox'
import {
  DATA_FRESHNESS_DEFAULTS,
  dataFreshness as judgeFreshness,
  localTime,
  volumeBaseline,
  volumeHours,
} from '../../detection/index.ts'
import { duration, floorTo, MINUTE } from '../../lib/index.ts'
import { lastEventAt } from '../../management/index.ts'
import { type EventCounts, eventCountsFrom, historyOf, readEventCounts } from '../counts/event-counts.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { learningHour, learningHours, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

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
  figure: (value) => duration(value * MINUTE),
  defaultIntervalSeconds: 300,
  async run({ site, config, now, store }) {
    const clock = localTime(site.timezone)
    const end = floorTo(now, MINUTE)
    const compared = volumeHours(clock, end, WEEKS)
    const baselineOf = (counts: EventCounts) => volumeBaseline(historyOf(counts, end), clock, end, WEEKS)
    const last = await lastEventAt(store.read, site.site_no)
    return judgeCounts(
      { store, site, now },
      eventCountsFrom(end, compared),
      (snapshot) => readEventCounts(snapshot, end, compared),
      (counts) => {
        const { recent, outages } = counts
        return judgeFreshness({ now, last_event_at: last, recent, baseline: baselineOf(counts), outages }, config)
      },
      (counts) => {
        if (last === null) return noData('No event has come yet')
        return (
          learningHours(counts.knownFrom, end, site.timezone) ?? learningHour(baselineOf(counts), end, site.timezone)
        )
      },
      'critical',
    )
  },
})
