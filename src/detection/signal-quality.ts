import { number } from '../lib/index.ts'
import { type BadShareConfig, faultOf, judgeShare } from './bad-share.ts'
import { faultOnEach, learnFields, type PastField, type PastFields, type PresenceWeeks } from './past-fields.ts'
import { type FieldSentence, judgeField, learnPresence, type PresenceHistory, type QualityConfig } from './quality.ts'
import { BUDGET } from './unusual-share.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** Fields that vendors recognise visitors by. The event id has its own probe, because losing it causes double counts. */
export const IDENTIFIER_FIELDS = ['client_id', 'fbp', 'fbc', 'click_id', 'ip', 'user_agent'] as const
export type IdentifierField = (typeof IDENTIFIER_FIELDS)[number]

export const VALUE_FIELDS = ['value_zero', 'value_invalid', 'currency_invalid', 'items_empty'] as const
export type ValueField = (typeof VALUE_FIELDS)[number]

export const DUPLICATE_FIELDS = ['event_id', 'transaction_duplicate'] as const
export type DuplicateField = (typeof DUPLICATE_FIELDS)[number]

/** Clicks on ads: campaigns of almost a week bring up to three times as many, and then end. */
const OF_ADS: ReadonlySet<IdentifierField> = new Set(['fbc', 'click_id'])
/** Until their level without campaigns is known, half of their share also counts as usual. */
const LEFT_BY_ADS = 0.5

type LostConfig = Pick<QualityConfig, 'lost_share' | 'lost_min_rate'>

interface SignalInput<F extends string> {
  now: number
  kinds: readonly PresenceHistory<F>[]
}

const FAULTS: Readonly<Record<ValueField | 'transaction_duplicate', FieldSentence>> = {
  value_zero: (seen, usual) => `“value” is 0 on ${seen}; usually ${usual}`,
  value_invalid: (seen, usual) => `“value” is not a number on ${seen}; usually ${usual}`,
  currency_invalid: (seen, usual) => `“currency” is not an ISO 4217 code on ${seen}; usually ${usual}`,
  items_empty: (seen, usual) => `“items” is an empty list on ${seen}; usually ${usual}`,
  transaction_duplicate: (seen, usual) => `A transaction id was repeated on ${seen}; usually ${usual}`,
}

export const learnValues = (weeks: PresenceWeeks<ValueField>, config: BadShareConfig): PastFields<ValueField> =>
  learnFields(weeks, faultOnEach(VALUE_FIELDS, faultOf(config)))

/** Judges whether the values in commerce events are usable as often as usual. */
export function valueQuality({ now, kinds }: SignalInput<ValueField>, config: BadShareConfig): Verdict {
  const rule = { ...config, budget: budgetOf(kinds, VALUE_FIELDS) }
  const findings = kinds.flatMap((kind) =>
    VALUE_FIELDS.map((field) => judgeShare(field, kind, now, rule, FAULTS[field])),
  )
  return verdictOf(findings, `values: ${judgedOf(findings)} as good as usual`)
}

export const learnDuplicates = (
  weeks: PresenceWeeks<DuplicateField>,
  config: LostConfig & BadShareConfig,
): PastFields<DuplicateField> =>
  learnFields(weeks, { event_id: { times: config.lost_share }, transaction_duplicate: faultOf(config) })

/** Judges whether events can be told apart: by their id, without which vendors count twice, and by transactions that come only once. */
export function duplicates({ now, kinds }: SignalInput<DuplicateField>, config: LostConfig & BadShareConfig): Verdict {
  const rule = { ...config, budget: budgetOf(kinds, DUPLICATE_FIELDS) }
  const findings = kinds.flatMap((kind) => [
    judgeField('event_id', kind, now, rule),
    judgeShare('transaction_duplicate', kind, now, rule, FAULTS.transaction_duplicate),
  ])
  return verdictOf(findings, `duplicates: ${judgedOf(findings)} as usual`)
}

export const learnIdentifiers = (
  weeks: PresenceWeeks<IdentifierField>,
  config: LostConfig,
): PastFields<IdentifierField> => learnPresence(IDENTIFIER_FIELDS, weeks, config)

/** Judges whether each kind of event carries as many identifiers as it used to. */
export function identifierQuality({ now, kinds }: SignalInput<IdentifierField>, config: LostConfig): Verdict {
  const rule = { ...config, budget: budgetOf(kinds, IDENTIFIER_FIELDS) }
  const findings = kinds.flatMap((kind) =>
    IDENTIFIER_FIELDS.map((field) =>
      judgeField(field, kind, now, OF_ADS.has(field) ? { ...rule, levelOf: levelWithoutAds } : rule),
    ),
  )
  return verdictOf(findings, `identifiers: ${judgedOf(findings)} there as often as usual`)
}

/** Relative to the lowest day of the week, which `judgeField` already treats as usual. */
const levelWithoutAds = ({ ordinaryLevel: level, leastLevel }: PastField): number =>
  level === null ? LEFT_BY_ADS : Math.min(1, level / leastLevel)

/** Split, so that a site with many kinds of events has no more false alarms than one with few. */
const budgetOf = (kinds: readonly unknown[], fields: readonly unknown[]): number =>
  BUDGET / Math.max(1, kinds.length * fields.length)

function judgedOf(findings: readonly unknown[]): string {
  const judged = findings.filter((finding) => finding !== null).length
  return `${number(judged)} ${judged === 1 ? 'field is' : 'fields are'}`
}
