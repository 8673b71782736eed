import { Type } from 'typebox'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume as judgeVolume,
  localTime,
  volumeBaseline,
  volumeHours,
} from '../../detection/index.ts'
import { floorTo, MINUTE } from '../../lib/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { eventCountsFrom, historyOf, readEventCounts } from './counts/event-counts.ts'
import { judgeCounts } from './counts/judge-counts.ts'
import { learning, learningHours, noData } from './counts/unjudged.ts'

const Config = Type.Object(
  {
    direction: Type.Union([Type.Literal('down'), Type.Literal('up'), Type.Literal('both')], {
      default: DATA_VOLUME_DEFAULTS.direction,
      description: 'Which deviations are bad; others are named in the details only',
    }),
    weeks: Type.Integer({
      minimum: 2,
      maximum: 8,
      default: DATA_VOLUME_DEFAULTS.weeks,
      description: 'Earlier weeks whose same hours are compared with; yesterday until two of them are known',
    }),
    min_expected: Type.Number({
      minimum: 1,
      maximum: 10_000,
      default: DATA_VOLUME_DEFAULTS.min_expected,
      description: 'No event at all is critical once so many visits or batches were expected',
    }),
    warning_z: Type.Number({
      minimum: 1,
      maximum: 20,
      default: DATA_VOLUME_DEFAULTS.warning_z,
      description: 'Standard deviations from what is expected that make a warning, together with …',
    }),
    warning_ratio: Type.Number({
      minimum: 0.05,
      maximum: 0.95,
      default: DATA_VOLUME_DEFAULTS.warning_ratio,
      description: '… falling below this share of what is expected (or rising above its inverse)',
    }),
  },
  { additionalProperties: false },
)

export const dataVolume = defineProbeType({
  name: 'data_volume',
  title: 'Data volume',
  description: 'Whether the site, and each of its events, comes as often as at the same hours of earlier weeks.',
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  config: Config,
  defaultIntervalSeconds: 300,
  run({ site, config, now, store }) {
    const clock = localTime(site.timezone)
    const end = floorTo(now, MINUTE)
    const compared = volumeHours(clock, end, config.weeks)
    return judgeCounts(
      { store, site, now },
      eventCountsFrom(end, compared),
      (snapshot) => readEventCounts(snapshot, end, compared),
      (counts) => {
        const baseline = volumeBaseline(historyOf(counts, end), clock, end, config.weeks)
        return judgeVolume({ recent: counts.recent, baseline }, config)
      },
      ({ knownFrom, recent }) => {
        if (knownFrom === null && recent.total.every((count) => count === 0)) return noData('No event has come yet')
        return (
          learningHours(knownFrom, end, site.timezone) ?? learning('too few events are usual in a day to judge them')
        )
      },
      'warning',
    )
  },
})
