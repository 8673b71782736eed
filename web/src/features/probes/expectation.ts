import type { ExpectationRecord } from '../../api/probes.ts'
import { compact, counted, duration, percent } from '../../lib/words.ts'
import type { BandHour } from '../../ui/chart/hourly-band.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'

const HOUR = 3_600_000

/** The hours as the chart draws them: without the bound of a direction that is not bad. */
export const passingHours = ({ hours, direction }: Pick<ExpectationRecord, 'hours' | 'direction'>): BandHour[] =>
  hours.map(({ low, high, ...hour }) => ({
    ...hour,
    low: direction === 'up' ? null : low,
    high: direction === 'down' ? null : high,
  }))

/** What is usual in each hour, as a line. */
export const usualSeries = (hours: readonly BandHour[]): TimeSeries => ({
  key: 'usual',
  points: hours.map(({ t, expected }) => ({ t, value: expected })),
  isReference: true,
})

/** An hour's count in few characters; below 10, with one decimal. */
export const few = (count: number): string =>
  count < 10 ? count.toFixed(1).replace(/\.0$/, '') : compact(Math.round(count))

/** What the next full hour needs for another verdict: "From 16:00 to 17:00 it warns below 84 events; usually 120." */
export function needWords(
  answer: Pick<ExpectationRecord, 'hours' | 'direction'>,
  now: number,
  clock: (time: number) => string,
): string {
  const next = passingHours(answer).find(({ t }) => Date.parse(t) >= now)
  if (next === undefined || next.expected === null) {
    return 'What is usual in the next hour is not known yet: the probe learns from each day that passes.'
  }
  const { expected, low, high } = next
  const start = Date.parse(next.t)
  const when = `From ${clock(start)} to ${clock(start + HOUR)}`
  const usual = `usually ${few(expected)}`
  const bounds = [
    ...(low === null || low <= 0 ? [] : [low <= 1 ? 'without any event' : `below ${few(Math.ceil(low))} events`]),
    ...(high === null ? [] : [`above ${few(Math.floor(high))} ${Math.floor(high) === 1 ? 'event' : 'events'}`]),
  ]
  if (bounds.length > 0) return `${when} it warns ${bounds.join(' or ')}; ${usual}.`
  return `${when} any number of events passes, as one hour is too short to tell; ${usual}.`
}

/** How much is known, and how far counts differ from it by chance: "Learned from 18 days: …". */
export function spreadWords({
  learnt_days,
  level_noise,
  visit_size,
  special,
}: Pick<ExpectationRecord, 'learnt_days' | 'level_noise' | 'visit_size' | 'special'>): string {
  const visits = visit_size < 1.5 ? 'events come one by one' : `events come about ${few(visit_size)} at a time`
  const learnt = `Learned from ${counted(learnt_days, 'day')}: ${visits}, and hours vary by another ± ${percent(level_noise)}.`
  if (special.length === 0) return learnt
  return `${learnt} ${counted(special.length, 'public holiday')} left out, or judged by silence only.`
}

/** How much wider feedback has made what passes; null without any. Followed by links to where it was given. */
export const wideningWords = (widening: number): string | null =>
  widening === 1
    ? null
    : `Feedback has widened what passes: hours may vary ${few(Math.sqrt(widening))} times as much as measured. To undo it, take back “Not a problem” of`

/** The surprise of a median window: half of all windows have fewer events than expected. */
const EVERY_OTHER = Math.log10(2)

/** Why a finding was judged as it was; null when it has no evidence. */
export function reasonWords(evidence: Readonly<Record<string, unknown>>, status: string): string | null {
  const { surprise, surprise_needed: needed, window_minutes: minutes, kind } = evidence
  if (typeof surprise !== 'number' || typeof needed !== 'number' || typeof minutes !== 'number') return null
  const windows = `windows of ${duration(minutes * 60_000)}`
  if (surprise < EVERY_OTHER)
    return `Nothing is unusual: an alert opens for what chance brings once in ${times(needed)} ${windows}.`
  const found = `${whatCame(kind, evidence)} by chance once in ${times(surprise)} ${windows}; an alert opens from once in ${times(needed)} on`
  if (surprise < needed) return `${found}. Chance explains it.`
  if (kind === 'holiday')
    return `${found}. It fell over the morning as on a holiday: an alert opens only if it is low tomorrow, too.`
  // Findings about a new name, or that are only mentioned, pass although they are as rare.
  return status === 'ok' ? `${found}. Still, it is not a fault.` : `${found}.`
}

function whatCame(kind: unknown, evidence: Readonly<Record<string, unknown>>): string {
  if (kind === 'zero') return 'Such a silence comes'
  const { times, minutes_with_any: minutes, minutes_with_multiples: multiples } = evidence
  if (kind === 'doubled' && typeof minutes === 'number' && typeof multiples === 'number') {
    const number = times === 3 ? 'A multiple of three' : 'An even number'
    return `${number} in ${multiples} of the ${counted(minutes, 'minute')} with any comes`
  }
  return kind === 'spike' || kind === 'doubled' ? 'So many come' : 'So few come'
}

/** 10 to the power, for people: "1.3", "420", "1.2M". */
function times(power: number): string {
  if (power > 12) return 'more than 1,000 billion'
  const count = 10 ** power
  return count < 10 ? few(count) : compact(Number(count.toPrecision(2)))
}
