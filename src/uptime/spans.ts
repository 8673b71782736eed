import { Temporal } from 'temporal-polyfill'

/** A half-open range of time, epoch ms. */
export interface Span {
  from: number
  to: number
}

/** What is known about a site. The spans of one list may overlap and come in any order. */
export interface Evidence {
  /** Tagwarden was down, so no process received events; or the site was paused. */
  outages: readonly Span[]
  /** A probe of the site had run, with whatever result. */
  ran: readonly Span[]
  /** A probe of the site had come to a verdict. */
  judged: readonly Span[]
  /** The runs took place during planned maintenance of the site. */
  maintained: readonly Span[]
  /** A confirmed alert about the site was critical. */
  critical: readonly Span[]
  /** A confirmed alert was a warning. */
  warning: readonly Span[]
  /** One of our own checks could not run. */
  unchecked: readonly Span[]
}

/** How long the site was in each state, ms. */
export interface StateTimes {
  ok: number
  warning: number
  critical: number
  maintenance: number
  unknown: number
}

/**
 * How long a site was in each state during a range. Each instant counts once, as the first of these that applies:
 * 1. `unknown` while Tagwarden was down, the site was paused or no probe ran
 * 2. `maintenance`
 * 3. `critical`
 * 4. `warning`
 * 5. `unknown` while a check could not run or nothing was judged
 * 6. `ok`
 *
 * So time that nothing watched is never ok, and an open problem keeps counting while a site that sends nothing leaves nothing to
 * judge.
 */
export function timesIn(range: Span, evidence: Evidence): StateTimes {
  const watched = without(within([range], evidence.ran), evidence.outages)
  const working = without(watched, evidence.maintained)
  const calm = without(working, evidence.critical)
  const fine = without(calm, evidence.warning)
  const ok = lengthOf(without(within(fine, evidence.judged), evidence.unchecked))
  return {
    ok,
    warning: lengthOf(calm) - lengthOf(fine),
    critical: lengthOf(working) - lengthOf(calm),
    maintenance: lengthOf(watched) - lengthOf(working),
    unknown: range.to - range.from - lengthOf(watched) + lengthOf(fine) - ok,
  }
}

/** Sorted and without overlaps. */
export function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (to <= from) continue
    const last = result.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** The parts of `spans` that lie inside one of `others`. */
export function within(spans: readonly Span[], others: readonly Span[]): Span[] {
  const result: Span[] = []
  const rest = merged(others)
  let next = 0
  for (const { from, to } of merged(spans)) {
    while ((rest[next]?.to ?? Number.POSITIVE_INFINITY) <= from) next++
    for (let n = next; n < rest.length; n++) {
      const other = rest[n]
      if (other === undefined || other.from >= to) break
      result.push({ from: Math.max(from, other.from), to: Math.min(to, other.to) })
    }
  }
  return result
}

/** The parts of `spans` that lie outside all of `others`. */
export function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  const holes = merged(others)
  const gaps = [Number.NEGATIVE_INFINITY, ...holes.map(({ to }) => to)].map((from, n) => ({
    from,
    to: holes[n]?.from ?? Number.POSITIVE_INFINITY,
  }))
  return within(spans, gaps)
}

/** Total length, ms. The spans must not overlap. */
export const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

/** A calendar day in a time zone. */
export interface LocalDay extends Span {
  /** `YYYY-MM-DD`. */
  day: string
}

/** The last calendar days of a time zone up to the one containing `now`, oldest first: 23 to 25 hours each. */
export function localDays(timezone: string, now: number, count: number): LocalDay[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const days: LocalDay[] = []
  for (let back = count - 1; back >= 0; back--) {
    const date = today.subtract({ days: back })
    const from = date.toZonedDateTime(timezone).epochMilliseconds
    const to = date.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds
    // A day that a zone skipped, as Samoa did when it crossed the date line, has no time.
    if (from < to) days.push({ day: date.toString(), from, to })
  }
  return days
}
