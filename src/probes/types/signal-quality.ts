import { type Static, type TObject, Type } from 'typebox'
import {
  BAD_SHARE_DEFAULTS,
  duplicates as judgeDuplicates,
  identifierQuality as judgeIdentifiers,
  valueQuality as judgeValues,
  learnDuplicates,
  learnIdentifiers,
  learnValues,
  MIN_USUAL_EVENTS,
  type PastFields,
  type PresenceHistory,
  type PresenceWeeks,
  QUALITY_DEFAULTS,
  type Verdict,
} from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import { eventsSeen, judgePresence, type Presence, presenceHistoryOf } from '../counts/judge-presence.ts'
import { signalReader } from '../counts/presence-counts.ts'
import { learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: byDefault, description })

export const LOST = {
  lost_share: share(
    QUALITY_DEFAULTS.lost_share,
    'A field is lost when its rate is significantly below this share of its usual rate',
  ),
  lost_min_rate: share(QUALITY_DEFAULTS.lost_min_rate, 'A field whose usual rate is below this is never lost'),
}

const FAULTS = {
  min_share: share(
    BAD_SHARE_DEFAULTS.min_share,
    'A fault is a warning only when it is on significantly more than this share of the events',
  ),
  factor: Type.Number({
    minimum: 1,
    maximum: 100,
    default: BAD_SHARE_DEFAULTS.factor,
    description: 'A fault is a warning only when it is on this many times as many events as usual',
  }),
  critical_share: share(BAD_SHARE_DEFAULTS.critical_share, 'A fault on significantly more than this share is critical'),
}

interface SignalProbe<F extends string, C extends TObject> {
  name: string
  title: string
  description: string
  /** Name for people, e.g. `identifiers`. */
  what: string
  config: C
  columns: Parameters<typeof signalReader<F>>[0]
  /** Whether the usual share varies over more than a week, so that learning needs the three weeks before, too. */
  hasEarlier?: boolean
  learn: (weeks: PresenceWeeks<F>, config: Static<C>) => PastFields<F>
  judge: (input: { now: number; kinds: readonly PresenceHistory<F>[] }, config: Static<C>) => Verdict
}

/** Defines a probe of fields that version 2 of the tag reports for each kind of event. */
const defineSignalProbe = <F extends string, C extends TObject>({
  what,
  columns,
  hasEarlier = false,
  learn,
  judge,
  ...type
}: SignalProbe<F, C>) => {
  const reader = signalReader(columns)
  return defineProbeType({
    ...type,
    kind: 'data',
    siteFields: [],
    needs: [],
    figure: percent,
    defaultIntervalSeconds: 300,
    run: ({ config, ...counting }) =>
      judgePresence(
        counting,
        {
          ...reader,
          key: `${type.name} ${JSON.stringify(config)}`,
          hasEarlier,
          learn: (weeks) => learn(weeks, config),
        },
        (kinds, end) => judge({ now: end, kinds: kinds.map(presenceHistoryOf) }, config),
        (kinds) => unjudged(what, kinds),
      ),
  })
}

function unjudged<F extends string>(what: string, kinds: readonly Presence<F>[]): Unjudged {
  if (eventsSeen(kinds) === 0)
    return noData(
      `No event has reported anything about ${what} in the last 8 days; if events come, update the tag's template`,
    )
  const most = Math.max(...kinds.map(({ past }) => past.events))
  if (most >= MIN_USUAL_EVENTS) return noData(`No kind of event has reported enough about ${what} in the last 24 hours`)
  return learning(
    `${number(most)} of ${MIN_USUAL_EVENTS} events of one kind are known from before the last day; judging of ${what} starts at ${MIN_USUAL_EVENTS}`,
  )
}

export const duplicates = defineSignalProbe({
  name: 'duplicates',
  title: 'Duplicates',
  description:
    'Whether events still have the id that vendors use for deduplication, and each transaction arrives only once.',
  what: 'event ids',
  config: Type.Object({ ...LOST, ...FAULTS }, { additionalProperties: false }),
  columns: {
    event_id: ['event_id', 'identifiers_total'],
    transaction_duplicate: ['transaction_duplicate', 'validity_total'],
  },
  learn: learnDuplicates,
  judge: judgeDuplicates,
})

export const valueQuality = defineSignalProbe({
  name: 'value_quality',
  title: 'Values',
  description:
    'Whether values are 0 or not a number, currencies are not a code, or lists of items are empty more often than usual.',
  what: 'values',
  config: Type.Object(FAULTS, { additionalProperties: false }),
  columns: {
    value_zero: ['value_zero', 'validity_total'],
    value_invalid: ['value_invalid', 'validity_total'],
    currency_invalid: ['currency_invalid', 'validity_total'],
    items_empty: ['items_empty', 'validity_total'],
  },
  learn: learnValues,
  judge: judgeValues,
})

export const identifierQuality = defineSignalProbe({
  name: 'identifier_quality',
  title: 'Identifiers',
  description:
    'Whether each kind of event carries client id, fbp, fbc, click ids, IP address and user agent as often as it used to.',
  what: 'identifiers',
  config: Type.Object(LOST, { additionalProperties: false }),
  columns: {
    client_id: ['client_id', 'identifiers_total'],
    fbp: ['fbp', 'identifiers_total'],
    fbc: ['fbc', 'identifiers_total'],
    click_id: ['click_id', 'identifiers_total'],
    ip: ['ip', 'identifiers_total'],
    user_agent: ['user_agent', 'identifiers_total'],
  },
  hasEarlier: true,
  learn: learnIdentifiers,
  judge: judgeIdentifiers,
})
