import { type Static, Type } from 'typebox'
import { ecommerceScore, userDataScore } from '../../analytics/index.ts'
import {
  type FieldCounts,
  ecommerceQuality as judgeEcommerce,
  userDataQuality as judgeUserData,
  learnPresence,
  MIN_USUAL_EVENTS,
  QUALITY_DEFAULTS,
  type QualityInput,
  type Verdict,
} from '../../detection/index.ts'
import { MINUTE, number, percent } from '../../lib/index.ts'
import type { Counting, CountsOutcome } from '../counts/judge-counts.ts'
import { eventsSeen, judgePresence, type Presence, presenceHistoryOf } from '../counts/judge-presence.ts'
import { ECOMMERCE, presenceReader, USER_DATA } from '../counts/presence-counts.ts'
import { windowMinutes } from '../counts/timeline.ts'
import { learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const scoreSetting = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 100, description }))
const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: byDefault, description })

/** The settings of both types. */
const QualitySettings = Type.Object(
  {
    window_minutes: windowMinutes(QUALITY_DEFAULTS.window_minutes),
    min_events: Type.Integer({
      minimum: 10,
      maximum: 1_000_000,
      default: QUALITY_DEFAULTS.min_events,
      description:
        'With fewer events in the window, the score is judged over as much of the last 24 hours as it takes to reach this number',
    }),
    warning_score: scoreSetting('A score significantly below this is a warning; if empty, the score is not judged'),
    critical_score: scoreSetting('A score significantly below this is critical; if empty, no score is critical'),
    lost_share: share(
      QUALITY_DEFAULTS.lost_share,
      'A field is lost when its rate is significantly below this share of its usual rate',
    ),
    lost_min_rate: share(QUALITY_DEFAULTS.lost_min_rate, 'A field whose usual rate is below this is never lost'),
  },
  { additionalProperties: false },
)

type Config = Static<typeof QualitySettings>

const checkQualitySettings = ({ warning_score, critical_score }: Config) =>
  critical_score !== undefined && warning_score !== undefined && critical_score > warning_score
    ? [{ path: '/critical_score', message: 'must not be above warning_score' }]
    : []

/** A finding about a field shows the share of events with it; any other shows the score. */
const rateOrScore = (
  value: number,
  write: (value: number) => string,
  subject: Readonly<Record<string, unknown>>,
): string => ('field' in subject ? percent(value, write) : `${number(Math.floor(value))} of 100`)

interface Quality<F extends string> {
  /** Name for people, e.g. `user data`. */
  what: string
  columns: Parameters<typeof presenceReader<F>>[0]
  score: (fields: FieldCounts<F>) => number | null
  judge: (input: QualityInput<F>, config: Config) => Verdict
}

function judgeQuality<F extends string>(
  { site, config, now, store }: Counting & { config: Config },
  { what, columns, score, judge }: Quality<F>,
): Promise<CountsOutcome> {
  const fields = Object.keys(columns) as F[]
  return judgePresence(
    { store, site, now },
    {
      ...presenceReader(columns),
      key: `${what} ${config.lost_share}`,
      newestMs: config.window_minutes * MINUTE,
      learn: (weeks) => learnPresence(fields, weeks, config),
    },
    (kinds, end) => judge({ now: end, fields, kinds: kinds.map(presenceHistoryOf), score }, config),
    (kinds) => unjudged(what, kinds),
  )
}

/** Says how much is missing: a kind of event is judged once enough of its events are more than a day old. */
function unjudged<F extends string>(what: string, kinds: readonly Presence<F>[]): Unjudged {
  if (eventsSeen(kinds) === 0) return noData(`No event has reported anything about ${what} in the last 8 days`)
  const most = Math.max(...kinds.map(({ past }) => past.events))
  if (most >= MIN_USUAL_EVENTS) return noData(`No kind of event usually carries ${what}`)
  return learning(
    `${number(most)} of ${MIN_USUAL_EVENTS} events of one kind are known from before the last day; judging of ${what} starts at ${MIN_USUAL_EVENTS}`,
  )
}

export const userDataQuality = defineProbeType({
  name: 'user_data_quality',
  title: 'User data quality',
  description: 'Whether each kind of event carries user data as often as it used to; its score, if a limit is set.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: QualitySettings,
  checkConfig: checkQualitySettings,
  figure: rateOrScore,
  defaultIntervalSeconds: 300,
  run: (context) =>
    judgeQuality(context, {
      what: 'user data',
      columns: USER_DATA,
      score: userDataScore,
      judge: judgeUserData,
    }),
})

export const ecommerceQuality = defineProbeType({
  name: 'ecommerce_quality',
  title: 'E-commerce data quality',
  description:
    'Whether each kind of event carries e-commerce data as often as it used to; its score, if a limit is set.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: QualitySettings,
  checkConfig: checkQualitySettings,
  figure: rateOrScore,
  defaultIntervalSeconds: 300,
  run: (context) =>
    judgeQuality(context, {
      what: 'e-commerce data',
      columns: ECOMMERCE,
      score: ecommerceScore,
      judge: judgeEcommerce,
    }),
})
