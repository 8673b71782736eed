import { Type } from 'typebox'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume as judgeVolume,
  localTime,
  type VolumeSoFar,
  volumeBaseline,
  volumeHours,
  volumeSoFar,
} from '../../detection/index.ts'
import { DAY, duration, floorTo, MINUTE, number } from '../../lib/index.ts'
import { type EventCounts, eventCountsFrom, historyOf, readEventCounts } from '../counts/event-counts.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { learning, learningHour, learningHours, localDay, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

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

/** By then a whole day can be compared with two weeks. */
const WEEKS_KNOWN_AFTER_MS = 15 * DAY

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
    const baselineOf = (counts: EventCounts) => volumeBaseline(historyOf(counts, end), clock, end, config.weeks)
    return judgeCounts(
      { store, site, now },
      eventCountsFrom(end, compared),
      (snapshot) => readEventCounts(snapshot, end, compared),
      (counts) => judgeVolume({ recent: counts.recent, baseline: baselineOf(counts) }, config),
      (counts) => {
        const { knownFrom, recent } = counts
        if (knownFrom === null && recent.total.every((count) => count === 0)) return noData('No event has come yet')
        const hours = learningHours(knownFrom, end, site.timezone)
        if (hours !== undefined) return hours
        const baseline = baselineOf(counts)
        const soFar = volumeSoFar({ recent, baseline }, config)
        if (soFar === null) return learningHour(baseline, end, site.timezone)
        return learning(tooFew(soFar, (knownFrom ?? end) + WEEKS_KNOWN_AFTER_MS, site.timezone))
      },
      'warning',
    )
  },
})

/** `3 events in 24 h, 3 are usual; judges once 75 are, from 3 Dec once 15 are` */
function tooFew({ covered, events, usual, needed, neededInWeeks }: VolumeSoFar, weeksKnown: number, timezone: string) {
  const later =
    neededInWeeks === null ? '' : `, from ${localDay(weeksKnown, timezone)} once ${number(neededInWeeks)} are`
  return `${number(events)} events in ${duration(covered)}, ${number(usual)} are usual; judges once ${number(needed)} are${later}`
}
