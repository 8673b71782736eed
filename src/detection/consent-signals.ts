import { duration, isoTime, number, percent } from '../lib/index.ts'
import { surprise } from './false-alarms.ts'
import { learnFields, type PastField, type PastFields, type PresenceWeeks } from './past-fields.ts'
import { type FieldSentence, judgeField, learnPresence, MIN_USUAL_EVENTS, type PresenceHistory } from './quality.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { BUDGET, unusualStretch } from './unusual-share.ts'
import type { FaultyShare, PresenceBucket, UsualShare } from './usual-share.ts'
import { type Finding, isBad, type Verdict, verdictOf } from './verdict.ts'

/**
 * What is looked for on events, each as a share of those that could have it: any signal; a choice that follows the default; a
 * grant for each purpose; and a refusal, which some visitors always choose.
 */
export const CONSENT_FIELDS = ['signal', 'update', 'ad_storage', 'analytics_storage', 'refusal'] as const
export type ConsentField = (typeof CONSENT_FIELDS)[number]

const PURPOSES = ['ad_storage', 'analytics_storage'] as const
export type Purpose = (typeof PURPOSES)[number]

/** Executions of a tag on events that reported consent, and how many of them had each purpose denied. */
export interface TagConsentHistory {
  readonly tag_key: string
  /** The last 24 hours, oldest first; buckets without executions may be missing. */
  readonly recent: readonly PresenceBucket<Purpose>[]
}

/** For each purpose, the share of all events with it denied; null when none reported it. */
type DeniedShares = Readonly<Record<Purpose, number | null>>

/** What was reported before the last 24 hours. */
export interface ConsentWeeks {
  readonly events: PresenceWeeks<ConsentField>
  /** By tag, the hours of the seven days before; hours without executions may be missing. */
  readonly tags: ReadonlyMap<string, readonly PresenceBucket<Purpose>[]>
  /** Of these seven days. */
  readonly denied: DeniedShares
}

/** What is learnt from it. */
export interface ConsentPast {
  readonly events: PastFields<ConsentField>
  readonly tags: ReadonlyMap<string, PastFields<Purpose>>
  readonly denied: DeniedShares
}

export interface ConsentInput {
  now: number
  /** The last 24 hours of all events together: consent belongs to the visitor, so a fault shows on whatever the visitor does. */
  recent: PresenceHistory<ConsentField>['recent']
  tags: readonly TagConsentHistory[]
  past: ConsentPast
}

export interface ConsentConfig {
  /** See `QualityConfig`. */
  lost_share: number
  lost_min_rate: number
  /** A tag ignores consent when it certainly runs on denied events at this share of the rate at which it would run if it did not check, … */
  tag_share: number
}

export const CONSENT_DEFAULTS = { lost_share: 0.5, lost_min_rate: 0.1, tag_share: 0.3 } as const satisfies ConsentConfig

/** … and usually ran at no more than this share of that rate. */
const TAG_KEEPS_SHARE = 0.1
/** Executions on denied events that must be expected of a tag that does not check, before it is judged. */
const TAG_MIN_EXPECTED = 30

const SENTENCES: Readonly<Record<ConsentField, FieldSentence>> = {
  signal: (seen, usual) => `A consent signal is on ${seen}; usually ${usual}`,
  update: (seen, usual) => `A visitor's choice follows the consent default on ${seen}; usually ${usual}`,
  ad_storage: (seen, usual) => `“ad_storage” is granted on ${seen}; usually ${usual}`,
  analytics_storage: (seen, usual) => `“analytics_storage” is granted on ${seen}; usually ${usual}`,
  refusal: (seen, usual) => `“ad_storage” is denied on ${seen}; usually ${usual}, so refusals may be lost`,
}

export function deniedShares(hours: readonly PresenceBucket<ConsentField>[]): DeniedShares {
  const total = sum(hours.map(({ fields }) => fields.signal.total))
  const of = (purpose: Purpose) =>
    total === 0 ? null : sum(hours.map(({ fields }) => fields[purpose].total - fields[purpose].present)) / total
  return { ad_storage: of('ad_storage'), analytics_storage: of('analytics_storage') }
}

export const learnConsent = (
  events: PresenceWeeks<ConsentField>,
  config: Pick<ConsentConfig, 'lost_share'>,
): PastFields<ConsentField> => learnPresence(CONSENT_FIELDS, events, config)

/** @param denied shares of all events */
export const learnTagConsent = (
  usual: readonly PresenceBucket<Purpose>[],
  denied: DeniedShares,
  config: Pick<ConsentConfig, 'tag_share'>,
): PastFields<Purpose> => learnFields({ usual }, limitsOf(denied, config))

/** The share of a tag's executions on denied events that is too much. */
const limitsOf = (
  denied: DeniedShares,
  { tag_share }: Pick<ConsentConfig, 'tag_share'>,
): Record<Purpose, FaultyShare> => {
  const of = (purpose: Purpose) => ({ times: 0, least: tag_share * (denied[purpose] ?? 0) })
  return { ad_storage: of('ad_storage'), analytics_storage: of('analytics_storage') }
}

/** Judges whether events report consent as they used to, and whether tags that kept to it still do. */
export function consentSignals({ now, recent, tags, past }: ConsentInput, config: ConsentConfig): Verdict {
  const budget = BUDGET / (CONSENT_FIELDS.length + tags.length * PURPOSES.length)
  const events = { event_name: null, recent, past: past.events }
  const waveringOf = (known: PastField) => known.waveringOfDays
  const fields = CONSENT_FIELDS.map((field) =>
    judgeField(field, events, now, { ...config, budget, waveringOf, isMixed: false }, SENTENCES[field]),
  )
  const ofTags = tags.map((tag) => judgeTag(tag, past, now, { ...config, budget }))
  const judged = fields.filter((finding) => finding !== null).length
  const keeping = ofTags.filter((finding) => finding !== null).length
  const kept = keeping === 0 ? '' : `; ${number(keeping)} ${keeping === 1 ? 'tag keeps' : 'tags keep'} to it`
  return verdictOf(
    [...withoutConsequences(fields), ...ofTags],
    `Consent: ${number(judged)} of ${CONSENT_FIELDS.length} figures are known and as usual${kept}`,
  )
}

/** Without choices, nothing is granted either: it is one fault, and the missing choices name it. */
function withoutConsequences(findings: readonly (Finding | null)[]): (Finding | null)[] {
  const isLost = (field: ConsentField) =>
    findings.some((finding) => finding !== null && isBad(finding) && finding.subject.field === field)
  if (!isLost('update')) return [...findings]
  return findings.map((finding) =>
    PURPOSES.some((purpose) => purpose === finding?.subject.field) && finding !== null && isBad(finding)
      ? null
      : finding,
  )
}

/** Judges only tags that kept to consent: some vendors' tags run without it on purpose and tell the vendor so. */
function judgeTag(
  { tag_key, recent }: TagConsentHistory,
  { events, tags, denied }: ConsentPast,
  now: number,
  { tag_share, budget }: ConsentConfig & { budget: number },
): Finding | null {
  const known = tags.get(tag_key)
  if (known === undefined) return null
  const findings = PURPOSES.map((purpose) => {
    const ofAll = denied[purpose]
    if (ofAll === null) return null
    const limit = tag_share * ofAll
    const own = known.fields[purpose]
    const usual = { ...own, together: Math.max(own.together, thinned(events.fields[purpose], own)) }
    const expected = ofAll * usual.total
    if (usual.total < MIN_USUAL_EVENTS || expected < TAG_MIN_EXPECTED) return null
    if (usual.present > TAG_KEEPS_SHARE * expected) return null
    return judgePurpose({ tag_key, purpose, recent, limit, usual, budget }, now)
  })
  return (
    findings.find((finding) => finding !== null && isBad(finding)) ??
    findings.find((finding) => finding !== null) ??
    null
  )
}

/**
 * Returns how many executions say as much as a single one, if a visitor's choice is the same on all pages. A tag that keeps to consent hardly ever
 * runs on denied events, so these do not show how they clump. It has the clumps of events, thinned to those that it runs on (design effect of
 * thinned clusters, Kish 1965).
 */
const thinned = ({ together, total }: UsualShare, ofTag: UsualShare): number =>
  1 + (together - 1) * Math.min(1, ofTag.total / Math.max(1, total))

interface KeptPurpose {
  tag_key: string
  purpose: Purpose
  recent: readonly PresenceBucket<Purpose>[]
  /** The share of executions on denied events that is too much. */
  limit: number
  usual: UsualShare
  /** False alarms in 30 days for this purpose. */
  budget: number
}

function judgePurpose({ tag_key, purpose, recent, limit, usual, budget }: KeptPurpose, now: number): Finding | null {
  const { rate, together } = usual
  const seen = unusualStretch(purpose, recent, now, { usual, isBad: (share) => share > limit, budget })
  if (seen === null) return null
  const { stretch, since } = seen
  const { first, present: denied, total, chance, limit: needed } = stretch
  return {
    subject: { tag_key },
    status: since === null ? 'ok' : 'warning',
    message: `“${tag_key}” ran while “${purpose}” was denied in ${percent(denied / total)} of ${number(total)} executions in ${duration(now - (recent[first]?.from ?? now))}; usually ${percent(rate)}`,
    measured: denied / total,
    expected: rate,
    band: { low: null, high: limit },
    since: since === null ? null : isoTime(since),
    evidence: {
      purpose,
      denied,
      executions: total,
      lower_bound: wilson(denied / together, total / together, Z_999).low,
      ...(since === null ? {} : surprise(chance, needed)),
      usual_denied: usual.present,
      usual_executions: usual.total,
      last_seen: isoTime(recent.at(-1)?.to ?? now),
    },
  }
}
