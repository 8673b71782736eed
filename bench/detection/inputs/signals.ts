import {
  type ConsentConfig,
  type ConsentInput,
  deniedShares,
  learnConsent,
  learnTagConsent,
  type PresenceBucket,
  type Purpose,
  type TagConsentHistory,
} from '../../../src/detection/index.ts'
import type { Signals, TagSignals } from '../signals.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../world.ts'
import { each, learning, presenceOf } from './presence.ts'
import { filled } from './tags.ts'

const CONSENT = ['signal', 'update', 'ad_storage', 'analytics_storage', 'refusal'] as const

/** The last 24 hours of what events and tags say of consent at the start of a slot, and what is learnt of the weeks before. */
export function consentInputs({ consent, tags }: Signals, config: ConsentConfig) {
  const ofEvents = presenceOf(consent, CONSENT, true)
  const ofTags = tags.map((tag) => ({ tag_key: tag.key, ...consentBuckets(tag) }))
  const learnt = learning(({ slot, ...events }: ReturnType<typeof ofEvents.weeks> & { slot: number }) => {
    const [from, to] = [slot - 8 * SLOTS_A_DAY, slot - SLOTS_A_DAY]
    const denied = deniedShares(events.usual)
    return {
      events: learnConsent(events, config),
      tags: new Map(ofTags.map(({ tag_key, hours }) => [tag_key, learnTagConsent(hours(from, to), denied, config)])),
      denied,
    }
  })
  return (slot: number): Omit<ConsentInput, 'now'> => ({
    recent: ofEvents.recent(slot),
    tags: ofTags.map(({ tag_key, last }): TagConsentHistory => ({ tag_key, recent: last(slot) })),
    past: learnt({ ...ofEvents.weeks(slot), slot }),
  })
}

function consentBuckets({ consented, denied }: TagSignals) {
  const [all, of] = [new Sums(consented), new Sums(denied)]
  const bucket = (from: number, length: number): PresenceBucket<Purpose> | null => {
    const total = all.between(from, from + length)
    const refused = of.between(from, from + length)
    if (total === 0) return null
    const count = { present: refused, total }
    return {
      from: timeOf(from),
      to: timeOf(from + length),
      fields: { ad_storage: count, analytics_storage: count },
    }
  }
  return { ...filled((slot) => bucket(slot, RUN_EVERY)), hours: each(SLOTS_AN_HOUR, bucket) }
}

/** The last 24 hours of how each tag's vendor answered at the start of a slot. */
export function responseInputs({ tags }: Signals) {
  const all = tags.map(({ key, taken, refused }) => {
    const [ok, bad] = [new Sums(taken), new Sums(refused)]
    const { last } = filled((slot) => {
      const [response_2xx, response_4xx] = [ok.between(slot, slot + RUN_EVERY), bad.between(slot, slot + RUN_EVERY)]
      if (response_2xx + response_4xx === 0) return null
      const range = { from: timeOf(slot), to: timeOf(slot + RUN_EVERY) }
      return { ...range, response_2xx, response_3xx: 0, response_4xx, response_5xx: 0, response_none: 0 }
    })
    return { key, last }
  })
  return (slot: number) => all.map(({ key, last }) => ({ tag_key: key, buckets: last(slot) }))
}
