import { Type } from 'typebox'
import {
  DATA_FRESHNESS_DEFAULTS,
  freshnessLimits,
  freshnessSoFar,
  dataFreshness as judgeFreshness,
  type VolumeSoFar,
} from '../../detection/index.ts'
import { counted, duration, invalidRequest, MINUTE, number } from '../../lib/index.ts'
import { lastEventAt } from '../../management/index.ts'
import { expectedCounts } from '../counts/expected-counts.ts'
import { judgeEvents } from '../counts/site-events.ts'
import { learning, learningHour, learningHours, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const WEEKS = 4

export const dataFreshness = defineProbeType({
  name: 'data_freshness',
  title: 'Data freshness',
  description: 'Whether the site still sends events: silence is bad at hours of the week when events are usual.',
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
        description: 'A silence is bad only when it is longer than this many usual gaps between visits',
      }),
      false_alarms: Type.Number({
        minimum: 0.001,
        maximum: 100,
        default: DATA_FRESHNESS_DEFAULTS.false_alarms,
        description:
          'A silence is bad only when chance would bring it less often than about this many times in 30 days',
      }),
    },
    { additionalProperties: false },
  ),
  figure: (value) => duration(value * MINUTE),
  defaultIntervalSeconds: 300,
  async run({ site, config, now, store }) {
    const last = await lastEventAt(store.read, site.site_no)
    return judgeEvents(
      { store, site, now },
      { weeks: WEEKS, byName: false },
      (events) => judgeFreshness({ ...events, now, last_event_at: last }, config),
      ({ recent, usual, knownFrom, end }) => {
        if (last === null) return noData('No event has arrived yet')
        const hours = learningHours(knownFrom, end, site.timezone)
        if (hours !== undefined) return hours
        const soFar = freshnessSoFar({ recent, usual }, config)
        return soFar === null ? learningHour(usual, end, site.timezone) : learning(tooFew(soFar, now - last))
      },
      'critical',
    )
  },
  async expectation(asked) {
    if (asked.eventName !== null) throw invalidRequest('/event_name', 'is not judged by data_freshness: leave it out')
    return expectedCounts(asked, WEEKS, 'down', () => freshnessLimits(asked.config))
  },
})

/** E.g. `last event 5 days ago, usually 5 events in 24 h; judging starts once 10 are usual`. */
function tooFew({ covered, usual, needed }: VolumeSoFar, ago: number): string {
  const last = ago < MINUTE ? 'just now' : `${duration(ago)} ago`
  return `last event ${last}, usually ${counted(usual, 'event')} in ${duration(covered)}; judging starts once ${number(needed)} are usual`
}
