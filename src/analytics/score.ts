import { ratio } from './presence.ts'

/** Fewer events than this say nothing about a site's health. */
export const MIN_EVENTS = 20

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

/** What is known of one field. */
interface FieldCount {
  present: number
  total: number
}

/** Everything the score is computed from. */
export interface ScoreCounts {
  events: number
  success: number
  executions: number
  user_data: Record<keyof typeof USER_DATA_TARGETS, FieldCount>
  /** The base of `transaction_id` is the purchase and refund events where names are known. */
  ecommerce: Record<keyof typeof ECOMMERCE_TARGETS, FieldCount>
}

export interface FieldInput extends FieldCount {
  rate: number | null
  target: number
  weight: number
}

export interface Score {
  /** 0–100 like the three parts; null without data. */
  overall: number | null
  delivery: number | null
  user_data: number | null
  ecommerce: number | null
  band: Band | null
  /** Fewer than `MIN_EVENTS` events, or no part with data. */
  insufficient_data: boolean
  inputs: {
    events: number
    delivery: { success: number; executions: number; rate: number | null; weight: number }
    user_data: Record<keyof typeof USER_DATA_TARGETS, FieldInput> & { weight: number }
    ecommerce: Record<keyof typeof ECOMMERCE_TARGETS, FieldInput> & { weight: number }
  }
}

/** The quality score of a site, with everything it was computed from. */
export function score(counts: ScoreCounts): Score {
  const delivery = percent(ratio(counts.success, counts.executions))
  const userData = fieldInputs(USER_DATA_TARGETS, counts.user_data)
  const ecommerce = fieldInputs(ECOMMERCE_TARGETS, counts.ecommerce)
  const parts = { delivery, user_data: fieldScore(userData), ecommerce: fieldScore(ecommerce) }
  const overall =
    counts.events < MIN_EVENTS
      ? null
      : weightedMean([
          { value: parts.delivery, weight: PART_WEIGHTS.delivery },
          { value: parts.user_data, weight: PART_WEIGHTS.user_data },
          { value: parts.ecommerce, weight: PART_WEIGHTS.ecommerce },
        ])
  return {
    overall,
    ...parts,
    band: overall === null ? null : bandOf(overall),
    insufficient_data: overall === null,
    inputs: {
      events: counts.events,
      delivery: {
        success: counts.success,
        executions: counts.executions,
        rate: ratio(counts.success, counts.executions),
        weight: PART_WEIGHTS.delivery,
      },
      user_data: { ...userData, weight: PART_WEIGHTS.user_data },
      ecommerce: { ...ecommerce, weight: PART_WEIGHTS.ecommerce },
    },
  }
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

/** A field without a base (no purchase in the window, say) is left out and the others weigh more. */
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

/** 0.1 + 0.2 must not put a site one band lower. */
const withoutNoise = (value: number): number => Math.round(value * 1e9) / 1e9
