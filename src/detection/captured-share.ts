import { apart, isoTime, number, percent } from '../lib/index.ts'
import { logUpperTail } from './negative-binomial.ts'
import { binomialTail, sum, wilson, Z_999 } from './statistics.ts'
import { type Finding, type Verdict, verdictOf } from './verdict.ts'

/** Another system's count of an event on a day, and our count in the same hours. */
export interface CapturedDay {
  /** E.g. `2026-11-20`. */
  readonly day: string
  /** Epoch ms. */
  readonly from: number
  readonly reference: number
  readonly counted: number
}

export interface CapturedInput {
  /** Past days with a reference, oldest first. */
  readonly days: readonly CapturedDay[]
  readonly source: string
  readonly event: string
  /** A possible explanation, as a sentence. */
  readonly hint: string | null
}

export interface CapturedConfig {
  /** Less than this percentage of the source's count is too little. */
  min_captured_percent: number
  /** More than this is too much, beyond rounding at midnight. Over 100 if the source is known to leave some out. */
  max_captured_percent: number
}

export const CAPTURED_DEFAULTS = {
  min_captured_percent: 90,
  max_captured_percent: 100,
} as const satisfies CapturedConfig

/** Days are combined until the source counted this many: a small shop is judged by a week, a large one by yesterday. */
const ENOUGH = 100
/** Tolerance for events around midnight, as a share of the source's count. */
const ROUNDING = 0.02
/** A chance below this is taken for none. */
const CHANCE = 0.001
/** Up to this count the exact tail is computed; above, the normal approximation is as good. */
const EXACT_MAX = 10_000
/** How many days a finding lists. */
const DAYS_NAMED = 14

/**
 * Judges whether our count is certainly below the required share of the source's count, or certainly above all of it. Judges the newest day, and the
 * newest days that together have enough. Few orders prove little, so shares are judged by their bounds.
 *
 * If each of `reference` events is captured with the required share, the chance of `counted` or fewer is the lower tail of the binomial distribution
 * (`binomialTail`); above 10,000 events, the upper bound of Wilson's 99.9 % interval is used instead. Too many is judged by the upper tail of the
 * Poisson distribution around the largest allowed count. Critical is a share that is certainly below half of the required one.
 */
export function capturedShare(input: CapturedInput, config: CapturedConfig): Verdict {
  const windows = [input.days.slice(-1), newestWithEnough(input.days)]
  const judged = windows.map((days) => judge(days, input, config)).filter((finding) => finding !== null)
  const worst = judged.find(({ status }) => status === 'critical') ?? judged.find(({ status }) => status !== 'ok')
  const finding = worst ?? judged.at(-1) ?? null
  return verdictOf([finding], finding?.message ?? '')
}

/** Whether these days have enough events to show anything. */
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

/** Whether so few are no chance if each of `reference` events is captured with this share, 0–1. */
function isSurelyBelow(counted: number, reference: number, share: number): boolean {
  if (reference === 0 || counted >= share * reference) return false
  if (reference > EXACT_MAX) return wilson(counted, reference, Z_999).high < share
  return binomialTail(reference - counted, reference, 1 - share) < CHANCE
}

/** Whether so many are no chance if `most` times the source's count is right. */
function isSurelyOver(counted: number, reference: number, most: number): boolean {
  if (counted <= (most + ROUNDING) * reference) return false
  // A source that counted none does not prove that there are none.
  return logUpperTail(counted, { mean: Math.max(1, most * reference), burst: 1, noise: 0 }) < Math.log(CHANCE)
}

/** Start of the first of the consecutive bad days that end with the newest. */
function began(days: readonly CapturedDay[], share: number, isFew: boolean): number {
  const isBad = ({ counted, reference }: CapturedDay) =>
    isFew ? counted < share * reference : counted > share * reference
  const lastFine = days.findLastIndex((day) => !isBad(day))
  return (days[lastFine + 1] ?? days[0])?.from ?? 0
}
