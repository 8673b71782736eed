import { apart, isoTime, number, percent } from '../lib/index.ts'
import { logUpperTail } from './negative-binomial.ts'
import { binomialTail, sum, wilson, Z_999 } from './statistics.ts'
import { type Finding, type Verdict, verdictOf } from './verdict.ts'

/** What another system counted of an event on a day, and what was counted here in the same hours. */
export interface CapturedDay {
  /** `2026-11-20`. */
  readonly day: string
  /** Epoch ms. */
  readonly from: number
  readonly reference: number
  readonly counted: number
}

export interface CapturedInput {
  /** Days that are over and have a reference, oldest first. */
  readonly days: readonly CapturedDay[]
  readonly source: string
  readonly event: string
  /** What else is known and may explain it, as a sentence. */
  readonly hint: string | null
}

export interface CapturedConfig {
  /** Less of what the source counted is too little. */
  min_captured_percent: number
  /** More, beyond what rounds at midnight, is too much: over 100 where the source is known to leave some out. */
  max_captured_percent: number
}

export const CAPTURED_DEFAULTS = {
  min_captured_percent: 90,
  max_captured_percent: 100,
} as const satisfies CapturedConfig

/** Days are taken together until the source counted so many, so that a small shop is judged by a week and a large one by yesterday. */
const ENOUGH = 100
/** Of what the source counted, so much more may come of hours that round at midnight. */
const ROUNDING = 0.02
/** What comes by chance once in a thousand times is taken for no chance. */
const CHANCE = 0.001
/** Up to here the exact tail is added up; further on the normal approximation is as good. */
const EXACT_MAX = 10_000
/** Days that a finding names one by one. */
const DAYS_NAMED = 14

/**
 * Whether what was counted here is surely less than the wanted share of what the source counted, or surely more than all of it: of the
 * newest day, or of the newest days that together have enough. Few orders prove little, so a share counts by its bounds.
 *
 * Of `reference` events, each captured with the wanted share, so few as `counted` come with the lower tail of the binomial distribution
 * (`binomialTail`); where the source counted more than 10,000, the upper bound of Wilson's interval of 99.9 % stands for it. Too much is
 * judged by the upper tail of the Poisson distribution around the most that may be. Critical is a share that is surely under half of the wanted one.
 */
export function capturedShare(input: CapturedInput, config: CapturedConfig): Verdict {
  const windows = [input.days.slice(-1), newestWithEnough(input.days)]
  const judged = windows.map((days) => judge(days, input, config)).filter((finding) => finding !== null)
  const worst = judged.find(({ status }) => status === 'critical') ?? judged.find(({ status }) => status !== 'ok')
  const finding = worst ?? judged.at(-1) ?? null
  return verdictOf([finding], finding?.message ?? '')
}

/** Whether so few days could show anything at all. */
export const canJudge = (
  days: readonly CapturedDay[],
  { min_captured_percent, max_captured_percent }: CapturedConfig,
): boolean => {
  const [reference, counted] = [sum(days.map((day) => day.reference)), sum(days.map((day) => day.counted))]
  return (
    isSurelyBelow(0, reference, min_captured_percent / 100) ||
    isSurelyOver(counted, reference, max_captured_percent / 100)
  )
}

function newestWithEnough(days: readonly CapturedDay[]): readonly CapturedDay[] {
  let reference = 0
  const first = days.findLastIndex((day) => {
    reference += day.reference
    return reference >= ENOUGH
  })
  return days.slice(Math.max(0, first))
}

function judge(
  days: readonly CapturedDay[],
  { source, event, hint }: CapturedInput,
  config: CapturedConfig,
): Finding | null {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined || !canJudge(days, config)) return null
  const reference = sum(days.map((day) => day.reference))
  const counted = sum(days.map((day) => day.counted))
  const wanted = config.min_captured_percent / 100
  const isFew = isSurelyBelow(counted, reference, wanted)
  const most = config.max_captured_percent / 100
  const isMany = isSurelyOver(counted, reference, most)
  const when = first === last ? `on ${last.day}` : `from ${first.day} to ${last.day}`
  const share = reference === 0 ? null : counted / reference
  const bound = isFew ? wanted : most
  const [shown, limit] = apart(share ?? 0, bound, percent)
  const figures = `${number(counted)} of ${number(reference)} “${event}” that “${source}” counted ${when} were counted here${share === null ? '' : `, ${shown}`}`
  const because = hint === null ? '' : `. ${hint}`
  return {
    subject: { event_name: event },
    status: isFew && isSurelyBelow(counted, reference, wanted / 2) ? 'critical' : isFew || isMany ? 'warning' : 'ok',
    message: isFew
      ? `${figures}; at least ${limit} should be${because}`
      : isMany
        ? `${figures}: ${most === 1 ? 'more than it has' : `more than ${limit}`}, so some are counted twice here, or missing there${because}`
        : figures,
    measured: share,
    expected: 1,
    band: { low: wanted, high: most + ROUNDING },
    since: isFew || isMany ? isoTime(began(days, bound, isFew)) : null,
    evidence: {
      source,
      reference,
      counted,
      first_day: first.day,
      last_day: last.day,
      ...Object.fromEntries(
        days.slice(-DAYS_NAMED).map((day) => [day.day, `${number(day.counted)} of ${number(day.reference)}`]),
      ),
    },
  }
}

/** Whether so few are no chance where each of `reference` events is captured with this share, 0–1. */
function isSurelyBelow(counted: number, reference: number, share: number): boolean {
  if (reference === 0 || counted >= share * reference) return false
  if (reference > EXACT_MAX) return wilson(counted, reference, Z_999).high < share
  return binomialTail(reference - counted, reference, 1 - share) < CHANCE
}

/** Whether so many are no chance where as many as `most` times what the source counted are right. */
function isSurelyOver(counted: number, reference: number, most: number): boolean {
  if (counted <= (most + ROUNDING) * reference) return false
  // A source that counted none does not say that there are none at all.
  return logUpperTail(counted, { mean: Math.max(1, most * reference), burst: 1, noise: 0 }) < Math.log(CHANCE)
}

/** Start of the first of the days in a row, up to the newest, whose share is not as it should be. */
function began(days: readonly CapturedDay[], share: number, isFew: boolean): number {
  const isBad = ({ counted, reference }: CapturedDay) =>
    isFew ? counted < share * reference : counted > share * reference
  const lastFine = days.findLastIndex((day) => !isBad(day))
  return (days[lastFine + 1] ?? days[0])?.from ?? 0
}
