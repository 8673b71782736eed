import type { EventCounts } from '../store/index.ts'

/** Fewer events than this prove nothing about a site's health. */
const MIN_EVENTS = 20

/** A tag is judged from this many executions on … */
const MIN_TAG_EXECUTIONS = 20
/** … if it also ran at least this share of the busiest tag's executions. */
const MIN_TAG_SHARE = 0.01

/** The highest score while a critical alert of the site is open: just below the band `warning`. */
const MAX_WHILE_CRITICAL = 49

const PART_WEIGHTS = { delivery: 0.5, user_data: 0.25, ecommerce: 0.25 } as const

const USER_DATA_TARGETS = {
  email: { weight: 0.5, target: 0.7 },
  phone: { weight: 0.2, target: 0.3 },
  address: { weight: 0.3, target: 0.5 },
} as const

const ECOMMERCE_TARGETS = {
  value: { weight: 0.3, target: 0.95 },
  currency: { weight: 0.2, target: 1 },
  transaction_id: { weight: 0.3, target: 1 },
  items: { weight: 0.2, target: 1 },
} as const

const BANDS = [
  { from: 90, band: 'excellent' },
  { from: 70, band: 'good' },
  { from: 50, band: 'warning' },
  { from: 0, band: 'critical' },
] as const

export type Band = (typeof BANDS)[number]['band']

/** How often one field was present. */
interface FieldCount {
  present: number
  total: number
}

/** Executions of one tag. */
export interface TagCount {
  tag_key: string
  success: number
  executions: number
}

/** What caps a score. */
export interface ScoreCap {
  max: number
  /** The alert's title. */
  reason: string
  alert_id: string
}

/** Everything the score is computed from. */
export interface ScoreCounts {
  events: number
  success: number
  executions: number
  /** See `worstTag`. */
  worst_tag: TagCount | null
  user_data: Record<keyof typeof USER_DATA_TARGETS, FieldCount>
  /** `transaction_id` counts only purchase and refund events, where names are known. */
  ecommerce: Record<keyof typeof ECOMMERCE_TARGETS, FieldCount>
}

interface FieldInput extends FieldCount {
  rate: number | null
  target: number
  weight: number
}

export interface Score {
  /** 0–100, as are the three parts; null without data. */
  overall: number | null
  delivery: number | null
  user_data: number | null
  ecommerce: number | null
  band: Band | null
  /** Fewer than `MIN_EVENTS` events, or no part with data. */
  insufficient_data: boolean
  /** Set while a critical alert of the site is open, whether or not it lowers `overall`. */
  cap: ScoreCap | null
  inputs: {
    events: number
    /** `overall` without the cap. */
    uncapped: number | null
    delivery: {
      success: number
      executions: number
      rate: number | null
      worst_tag: (TagCount & { rate: number | null }) | null
      weight: number
    }
    user_data: Record<keyof typeof USER_DATA_TARGETS, FieldInput> & { weight: number }
    ecommerce: Record<keyof typeof ECOMMERCE_TARGETS, FieldInput> & { weight: number }
  }
}

/** A site's quality score, with everything it was computed from. @param alert an open critical one */
export function score(counts: ScoreCounts, alert: { id: string; title: string } | null = null): Score {
  const { success, executions, worst_tag } = counts
  const rate = ratio(success, executions)
  const worst = worst_tag === null ? null : { ...worst_tag, rate: ratio(worst_tag.success, worst_tag.executions) }
  const userData = fieldInputs(USER_DATA_TARGETS, counts.user_data)
  const ecommerce = fieldInputs(ECOMMERCE_TARGETS, counts.ecommerce)
  const parts = {
    delivery: percent(rate === null ? null : Math.min(rate, worst?.rate ?? 1)),
    user_data: fieldScore(userData),
    ecommerce: fieldScore(ecommerce),
  }
  const uncapped =
    counts.events < MIN_EVENTS
      ? null
      : weightedMean([
          { value: parts.delivery, weight: PART_WEIGHTS.delivery },
          { value: parts.user_data, weight: PART_WEIGHTS.user_data },
          { value: parts.ecommerce, weight: PART_WEIGHTS.ecommerce },
        ])
  const cap = alert === null ? null : { max: MAX_WHILE_CRITICAL, reason: alert.title, alert_id: alert.id }
  const overall = uncapped === null ? null : Math.min(uncapped, cap?.max ?? 100)
  return {
    overall,
    ...parts,
    band: overall === null ? null : bandOf(overall),
    insufficient_data: overall === null,
    cap,
    inputs: {
      events: counts.events,
      uncapped,
      delivery: { success, executions, rate, worst_tag: worst, weight: PART_WEIGHTS.delivery },
      user_data: { ...userData, weight: PART_WEIGHTS.user_data },
      ecommerce: { ...ecommerce, weight: PART_WEIGHTS.ecommerce },
    },
  }
}

/**
 * The tag with the lowest success rate among those that matter: a conversion tag runs on one event in fifty, and a mean over all
 * tags hides that it fails. Among equals the busiest, then the first by key; null when none matters.
 */
export function worstTag(tags: readonly TagCount[]): TagCount | null {
  const busiest = tags.reduce((most, { executions }) => Math.max(most, executions), 0)
  const least = Math.max(MIN_TAG_EXECUTIONS, MIN_TAG_SHARE * busiest)
  const rateOf = ({ success, executions }: TagCount) => ratio(success, executions) ?? 1
  const [worst] = tags
    .filter(({ executions }) => executions >= least)
    .sort((a, b) => rateOf(a) - rateOf(b) || b.executions - a.executions || (a.tag_key < b.tag_key ? -1 : 1))
  return worst === undefined ? null : { tag_key: worst.tag_key, success: worst.success, executions: worst.executions }
}

export const bandOf = (overall: number): Band => BANDS.find(({ from }) => overall >= from)?.band ?? 'critical'

/** Sub-score of user data, 0–100, or null without data. */
export const userDataScore = (counts: ScoreCounts['user_data']): number | null =>
  fieldScore(fieldInputs(USER_DATA_TARGETS, counts))

/** Sub-score of e-commerce data, 0–100, or null without data. */
export const ecommerceScore = (counts: ScoreCounts['ecommerce']): number | null =>
  fieldScore(fieldInputs(ECOMMERCE_TARGETS, counts))

function fieldInputs<F extends string>(
  targets: Readonly<Record<F, { weight: number; target: number }>>,
  counts: Readonly<Record<F, FieldCount>>,
): Record<F, FieldInput> {
  const fields = Object.keys(targets) as F[]
  return Object.fromEntries(
    fields.map((field) => {
      const { present, total } = counts[field]
      return [field, { present, total, rate: ratio(present, total), ...targets[field] }]
    }),
  ) as Record<F, FieldInput>
}

/** Leaves out fields without a base (no purchase in the window, say), so the others weigh more. */
function fieldScore(inputs: Readonly<Record<string, FieldInput>>): number | null {
  return weightedMean(
    Object.values(inputs).map(({ rate, target, weight }) => ({
      value: rate === null ? null : percent(Math.min(1, rate / target)),
      weight,
    })),
  )
}

function weightedMean(parts: readonly { value: number | null; weight: number }[]): number | null {
  let sum = 0
  let weights = 0
  for (const { value, weight } of parts) {
    if (value === null) continue
    sum += value * weight
    weights += weight
  }
  return weights === 0 ? null : withoutNoise(sum / weights)
}

const percent = (fraction: number | null): number | null => (fraction === null ? null : withoutNoise(100 * fraction))

/** Rounds off floating-point noise: 0.1 + 0.2 must not put a site one band lower. */
const withoutNoise = (value: number): number => Math.round(value * 1e9) / 1e9

/** How often a field was present, out of `total` events that could have had it. */
export interface Presence {
  present: number
  total: number
  /** 0–1, null without a base. */
  rate: number | null
}

export const presence = (present: number, total: number): Presence => ({ present, total, rate: ratio(present, total) })

/**
 * A fraction from 0 to 1, or null without a base. Capped at 1, because rows of batches from before parts were checked against
 * their whole may have a larger part.
 */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : Math.min(1, part / whole))

/** Each user-data field and the counter that is its base. Batches do not report the last four. */
export const USER_DATA_FIELDS = {
  email: 'user_data_total',
  phone: 'user_data_total',
  address: 'user_data_total',
  first_name: 'user_data_detail_total',
  last_name: 'user_data_detail_total',
  city: 'user_data_detail_total',
  country: 'user_data_detail_total',
} as const satisfies Partial<Record<keyof EventCounts, keyof EventCounts>>

export const ECOMMERCE_FIELDS = {
  value: 'ecommerce_total',
  currency: 'ecommerce_total',
  transaction_id: 'ecommerce_total',
  items: 'ecommerce_total',
} as const satisfies Partial<Record<keyof EventCounts, keyof EventCounts>>

export type UserDataField = keyof typeof USER_DATA_FIELDS
export type EcommerceField = keyof typeof ECOMMERCE_FIELDS

export type UserDataPresence = { total: number } & Record<UserDataField, Presence>
export type EcommercePresence = { total: number } & Record<EcommerceField, Presence>

export function userDataPresence(sums: EventCounts): UserDataPresence {
  return { total: sums.user_data_total, ...fieldPresence(USER_DATA_FIELDS, sums) }
}

export function ecommercePresence(sums: EventCounts): EcommercePresence {
  return { total: sums.ecommerce_total, ...fieldPresence(ECOMMERCE_FIELDS, sums) }
}

function fieldPresence<F extends keyof EventCounts>(
  fields: Readonly<Record<F, keyof EventCounts>>,
  sums: EventCounts,
): Record<F, Presence> {
  const names = Object.keys(fields) as F[]
  return Object.fromEntries(names.map((field) => [field, presence(sums[field], sums[fields[field]])])) as Record<
    F,
    Presence
  >
}
