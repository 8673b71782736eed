import { Type } from 'typebox'
import {
  CONSENT_DEFAULTS,
  type ConsentInput,
  consentSignals as judgeConsent,
  MIN_USUAL_EVENTS,
} from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import { readConsent } from '../counts/consent-counts.ts'
import type { Unjudged } from '../counts/judge-counts.ts'
import { judgePresence } from '../counts/judge-presence.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: byDefault, description })

export const consentSignals = defineProbeType({
  name: 'consent_signals',
  title: 'Consent signals',
  description:
    'Whether events carry consent signals as often as they used to, choices still reach them, and tags that kept to consent still do.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      lost_share: share(
        CONSENT_DEFAULTS.lost_share,
        'A signal, a choice or a class is lost when it is surely on fewer events than this share of its usual rate, and …',
      ),
      lost_min_rate: share(CONSENT_DEFAULTS.lost_min_rate, '… usually is at least at this rate'),
      tag_share: share(
        CONSENT_DEFAULTS.tag_share,
        'A tag that kept to consent warns when it surely runs on denied events at this share of what it would if it did not look',
      ),
    },
    { additionalProperties: false },
  ),
  figure: percent,
  defaultIntervalSeconds: 300,
  run: ({ config, ...counting }) =>
    judgePresence(
      counting,
      readConsent,
      (counts, end) => judgeConsent({ now: end, ...counts }, config),
      unjudged,
      true,
    ),
})

function unjudged({ events: { recent, usual } }: Omit<ConsentInput, 'now'>): Unjudged {
  const seenIn = (buckets: typeof recent) => buckets.reduce((sum, { fields }) => sum + fields.signal.total, 0)
  const known = seenIn(usual)
  if (known + seenIn(recent) === 0) {
    return noData('No event has reported consent in the last 8 days: version 2 of the tag does')
  }
  if (known >= MIN_USUAL_EVENTS) return noData('Events usually carry no consent signal')
  return learning(
    `${number(known)} of ${MIN_USUAL_EVENTS} events are known from the days before the last; judges consent from then on`,
  )
}
