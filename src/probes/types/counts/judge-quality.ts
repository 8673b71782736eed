import { type Static, Type } from 'typebox'
import {
  eventsIn,
  type FieldCounts,
  QUALITY_DEFAULTS,
  type QualityInput,
  type Verdict,
} from '../../../detection/index.ts'
import { floorTo, HOUR, MINUTE, number } from '../../../lib/index.ts'
import { type Counting, type CountsOutcome, judgeCounts } from './judge-counts.ts'
import { presenceFrom, readPresence } from './presence-counts.ts'
import { lastDay } from './timeline.ts'
import { learning, noData } from './unjudged.ts'
import { windowMinutes } from './window-setting.ts'

const scoreSetting = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 100, default: byDefault, description })
const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: byDefault, description })

/** The settings of both kinds of quality. */
export const QualitySettings = Type.Object(
  {
    window_minutes: windowMinutes(QUALITY_DEFAULTS.window_minutes),
    min_events: Type.Integer({
      minimum: 10,
      maximum: 1_000_000,
      default: QUALITY_DEFAULTS.min_events,
      description: 'With fewer events in the window, as much of the last 24 hours is judged as it takes',
    }),
    warning_score: scoreSetting(QUALITY_DEFAULTS.warning_score, 'A score that is surely below makes a warning'),
    critical_score: scoreSetting(QUALITY_DEFAULTS.critical_score, 'A score that is surely below is critical'),
    lost_share: share(
      QUALITY_DEFAULTS.lost_share,
      'A field is lost when it is surely present less often than this share of its usual rate, and …',
    ),
    lost_min_rate: share(QUALITY_DEFAULTS.lost_min_rate, '… usually is at least at this rate'),
  },
  { additionalProperties: false },
)

type Config = Static<typeof QualitySettings>

export const checkQualitySettings = ({ warning_score, critical_score }: Config) =>
  critical_score > warning_score ? [{ path: '/critical_score', message: 'must not be above warning_score' }] : []

interface Quality<F extends string> {
  /** For people: `user data`. */
  what: string
  fieldsOf: Parameters<typeof readPresence<F>>[3]
  score: (fields: FieldCounts<F>) => number | null
  judge: (input: QualityInput<F>, config: Config) => Verdict
}

export function judgeQuality<F extends string>(
  { site, config, now, store }: Counting & { config: Config },
  { what, fieldsOf, score, judge }: Quality<F>,
): Promise<CountsOutcome> {
  const end = floorTo(now, MINUTE)
  const timeline = lastDay(end, Math.max(2 * HOUR, config.window_minutes * MINUTE))
  return judgeCounts(
    { store, site, now },
    presenceFrom(timeline),
    (snapshot) => readPresence(snapshot, timeline, end, fieldsOf),
    (counts) => judge({ now: end, ...counts, score }, config),
    ({ recent }) => {
      const seen = recent.reduce((sum, bucket) => sum + eventsIn(bucket), 0)
      return seen === 0
        ? noData(`No event has said anything about ${what} in the last 24 hours`)
        : learning(`${number(seen)} of ${config.min_events} events with ${what} in the last 24 hours`)
    },
  )
}
