import { duration, isoTime, number, percent } from '../lib/index.ts'
import {
  clumping,
  type FieldSentence,
  isOver,
  judgeField,
  MIN_USUAL_EVENTS,
  type PresenceBucket,
  type PresenceHistory,
} from './quality.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { newestUntil, type TimeRange } from './time.ts'
import { type Finding, isBad, type Verdict, verdictOf } from './verdict.ts'

/**
 * What is looked for on events, each as a share of those that can say it: a signal at all; a choice behind the default; the two that are
 * granted; and that some visitors refuse.
 */
export const CONSENT_FIELDS = ['signal', 'update', 'ad_storage', 'analytics_storage', 'refusal'] as const
export type ConsentField = (typeof CONSENT_FIELDS)[number]

const PURPOSES = ['ad_storage', 'analytics_storage'] as const
type Purpose = (typeof PURPOSES)[number]

/** Executions of a tag on events that reported consent. */
export interface TagConsentBucket extends TimeRange {
  readonly consent_total: number
  readonly ad_storage_denied: number
  readonly analytics_storage_denied: number
}

export interface TagConsentHistory {
  readonly tag_key: string
  /** The last 24 hours, oldest first; buckets without executions may be missing. */
  readonly recent: readonly TagConsentBucket[]
  /** The seven days before those; likewise. */
  readonly earlier: readonly TagConsentBucket[]
}

export interface ConsentInput {
  now: number
  /** All events together: consent is a visitor's, and what breaks it shows on whatever the visitor does. */
  events: PresenceHistory<ConsentField>
  tags: readonly TagConsentHistory[]
  /** Share of all events in the seven days before the last 24 hours on which it was denied; null where none reported it. */
  usual_denied: Readonly<Record<Purpose, number | null>>
}

export interface ConsentConfig {
  /** As in `QualityConfig`. */
  lost_share: number
  lost_min_rate: number
  /** A tag does without consent when it surely runs on denied events at this share of what it would if it did not look … */
  tag_share: number
}

export const CONSENT_DEFAULTS = { lost_share: 0.5, lost_min_rate: 0.1, tag_share: 0.3 } as const satisfies ConsentConfig

/** … and usually did at no more than this share of that. */
const TAG_KEEPS_SHARE = 0.1
/** So many executions on denied events are expected of a tag that does not look, before it is said to. */
const TAG_MIN_EXPECTED = 30
const TAG_EXECUTIONS = [30, 100, 300, 1_000] as const

const SENTENCES: Readonly<Record<ConsentField, FieldSentence>> = {
  signal: (seen, usual) => `A consent signal is on ${seen}; ${usual} are usual`,
  update: (seen, usual) => `A visitor's choice follows the consent default on ${seen}; ${usual} are usual`,
  ad_storage: (seen, usual) => `“ad_storage” is granted on ${seen}; ${usual} are usual`,
  analytics_storage: (seen, usual) => `“analytics_storage” is granted on ${seen}; ${usual} are usual`,
  refusal: (seen, usual) => `“ad_storage” is denied on ${seen}; ${usual} are usual, so refusals may be lost`,
}

/** Whether events say of consent what they used to, and whether tags that kept to it still do. */
export function consentSignals({ now, events, tags, usual_denied }: ConsentInput, config: ConsentConfig): Verdict {
  const fields = CONSENT_FIELDS.map((field) => judgeField(field, events, now, config, SENTENCES[field]))
  const ofTags = tags.map((tag) => judgeTag(tag, usual_denied, now, config))
  const judged = fields.filter((finding) => finding !== null).length
  const keeping = ofTags.filter((finding) => finding !== null).length
  const kept = keeping === 0 ? '' : `; ${number(keeping)} ${keeping === 1 ? 'tag keeps' : 'tags keep'} to it`
  return verdictOf(
    [...withoutConsequences(fields), ...ofTags],
    `Consent: ${number(judged)} of ${CONSENT_FIELDS.length} figures are known and as usual${kept}`,
  )
}

/** Where no choice arrives any more, nothing is granted any more: one fault, and the former says what it is. */
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

/** Only tags that kept to consent are judged: some vendors' run without it on purpose, and say so to the vendor. */
function judgeTag(
  { tag_key, recent, earlier }: TagConsentHistory,
  usualDenied: ConsentInput['usual_denied'],
  now: number,
  config: ConsentConfig,
): Finding | null {
  const findings = PURPOSES.map((purpose) => {
    const ofAll = usualDenied[purpose]
    const before = totalOf(purpose, earlier)
    const expected = (ofAll ?? 0) * before.total
    if (ofAll === null || before.total < MIN_USUAL_EVENTS || expected < TAG_MIN_EXPECTED) return null
    if (before.denied > TAG_KEEPS_SHARE * expected) return null
    const together = clumping('denied', earlier.map(deniedIn(purpose)), before.denied / before.total)
    return judgePurpose({ tag_key, purpose, recent, limit: config.tag_share * ofAll, usual: before, together }, now)
  })
  return (
    findings.find((finding) => finding !== null && isBad(finding)) ??
    findings.find((finding) => finding !== null) ??
    null
  )
}

interface KeptPurpose {
  tag_key: string
  purpose: Purpose
  recent: readonly TagConsentBucket[]
  /** Share of executions on denied events that is too much. */
  limit: number
  usual: { denied: number; total: number }
  /** Executions that say as much as one that came alone: a visitor's choice is one for all pages. */
  together: number
}

const deniedIn =
  (purpose: Purpose) =>
  ({ from, to, consent_total, ...of }: TagConsentBucket): PresenceBucket<'denied'> => ({
    from,
    to,
    fields: { denied: { present: of[`${purpose}_denied`], total: consent_total } },
  })

function judgePurpose(kept: KeptPurpose, now: number): Finding | null {
  const { tag_key, purpose, recent, limit, usual, together } = kept
  const candidates = TAG_EXECUTIONS.map((executions) => {
    const window = newestUntil(recent, now, ({ consent_total }) => consent_total, executions)
    return window === null ? null : { window, ...totalOf(purpose, window) }
  }).filter((seen) => seen !== null)
  const share = usual.denied / usual.total
  const lowOf = ({ denied, total }: { denied: number; total: number }) =>
    wilson(denied / together, total / together, Z_999).low
  const isBeyond = (one: (typeof candidates)[number]) =>
    lowOf(one) > limit && !isOver('denied', one.window.map(deniedIn(purpose)), one.denied / one.total, share, together)
  const seen = candidates.find(isBeyond) ?? candidates[0]
  if (seen === undefined) return null
  const { window, denied, total } = seen
  const isWithout = isBeyond(seen)
  return {
    subject: { tag_key },
    status: isWithout ? 'warning' : 'ok',
    message: `“${tag_key}” ran while “${purpose}” was denied in ${percent(denied / total)} of ${number(total)} executions in ${duration(now - (window[0]?.from ?? now))}; ${percent(share)} are usual`,
    measured: denied / total,
    expected: share,
    band: { low: null, high: limit },
    since: isWithout ? isoTime(began(purpose, recent, limit)) : null,
    evidence: {
      purpose,
      denied,
      executions: total,
      lower_bound: lowOf(seen),
      usual_denied: usual.denied,
      usual_executions: usual.total,
      last_seen: isoTime(window.at(-1)?.to ?? now),
    },
  }
}

const totalOf = (purpose: Purpose, buckets: readonly TagConsentBucket[]) => ({
  denied: sum(buckets.map((bucket) => bucket[`${purpose}_denied`])),
  total: sum(buckets.map(({ consent_total }) => consent_total)),
})

/** It began where the executions beyond the limit add up to most (CUSUM, Page 1954). */
function began(purpose: Purpose, buckets: readonly TagConsentBucket[], limit: number): number {
  let excess = 0
  let most = { excess: Number.NEGATIVE_INFINITY, from: 0 }
  for (const bucket of buckets.toReversed()) {
    excess += bucket[`${purpose}_denied`] - limit * bucket.consent_total
    if (excess > most.excess) most = { excess, from: bucket.from }
  }
  return most.from
}
