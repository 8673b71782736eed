import { Type } from 'typebox'
import {
  CONSENT_DEFAULTS,
  type ConsentPast,
  consentSignals as judgeConsent,
  learnConsent,
  learnTagConsent,
  MIN_USUAL_EVENTS,
} from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import { type RecentConsent, readConsent, readConsentWeeks } from '../counts/consent-counts.ts'
import { firstIn, inTurns, judgeWithPast } from '../counts/judge-presence.ts'
import { learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: byDefault, description })

export const consentSignals = defineProbeType({
  name: 'consent_signals',
  title: 'Consent signals',
  description:
    'Whether events carry consent signals as often as they used to, choices still reach them, and tags that respected consent still do.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      lost_share: share(
        CONSENT_DEFAULTS.lost_share,
        'A signal, a choice or a class is lost when its rate is significantly below this share of its usual rate',
      ),
      lost_min_rate: share(
        CONSENT_DEFAULTS.lost_min_rate,
        'A signal, a choice or a class whose usual rate is below this is never lost',
      ),
      tag_share: share(
        CONSENT_DEFAULTS.tag_share,
        'A tag that respected consent is a warning when it runs on denied events at significantly more than this share of what it would without checking consent',
      ),
    },
    { additionalProperties: false },
  ),
  figure: percent,
  defaultIntervalSeconds: 300,
  run: ({ config, ...counting }) =>
    judgeWithPast(
      counting,
      {
        key: `consent ${JSON.stringify(config)}`,
        hasEarlier: true,
        recent: readConsent,
        weeks: readConsentWeeks,
        firstOf: ({ events }) => firstIn(events),
        learn: async ({ events, tags, denied }) => ({
          events: learnConsent(events, config),
          tags: await inTurns(tags, (hours) => learnTagConsent(hours, denied, config)),
          denied,
        }),
        sizeOf: ({ events, tags }) => Object.keys(events.fields).length + 2 * tags.size,
      },
      ({ events, tags }, past, end) =>
        judgeConsent({ now: end, recent: events, tags: withSilent(tags, past), past }, config),
      unjudged,
    ),
})

/** Adds tags that ran only in the week before: otherwise each tag with a quiet day would change how many are judged. */
const withSilent = (tags: RecentConsent['tags'], past: ConsentPast): RecentConsent['tags'] => {
  const seen = new Set(tags.map(({ tag_key }) => tag_key))
  const silent = [...past.tags.keys()].filter((key) => !seen.has(key))
  return [...tags, ...silent.map((tag_key) => ({ tag_key, recent: [] }))]
}

function unjudged({ events }: RecentConsent, past: ConsentPast): Unjudged {
  const known = past.events.events
  if (known + events.reduce((sum, { fields }) => sum + fields.signal.total, 0) === 0) {
    return noData("No event has reported consent in the last 8 days; if events come, update the tag's template")
  }
  if (known >= MIN_USUAL_EVENTS) return noData('Events usually carry no consent signal')
  return learning(
    `${number(known)} of ${MIN_USUAL_EVENTS} events are known from before the last day; judging of consent starts at ${MIN_USUAL_EVENTS}`,
  )
}
