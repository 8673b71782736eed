import { DAY, HOUR } from '../lib/index.ts'
import { MOST_LEVEL, type Noise } from './count-noise.ts'
import { type TimeRange, touchesAny, type WeekHours } from './time.ts'

export const FEEDBACK_VERDICTS = ['not_a_problem', 'real'] as const
export type FeedbackVerdict = (typeof FEEDBACK_VERDICTS)[number]

/** People's answer to an alert: during it, nothing was wrong, or something was. */
export interface Feedback extends TimeRange {
  readonly verdict: FeedbackVerdict
  /** Name of the event; null: all events of the site. */
  readonly name: string | null
}

/** What feedback changes for one subject. */
export interface Learnt {
  /** The hours to compare with, without those of real faults. */
  readonly hours: WeekHours
  /** Stretches that count as usual, whatever came. */
  readonly usual: readonly TimeRange[]
  /** Factor on the measured relative variance of its level, 1–4. */
  readonly widening: number
}

/**
 * An answer about the site also decides which hours of its events count. It widens only the site's own spread, because it was the site that raised
 * the alert.
 */
export function learntFrom(feedback: readonly Feedback[], name: string | null, hours: WeekHours, now: number): Learnt {
  const saidOf = (verdict: FeedbackVerdict) =>
    feedback.filter((one) => one.verdict === verdict && (one.name === null || one.name === name))
  const faults = saidOf('real')
  return {
    hours: faults.length === 0 ? hours : hoursWithout(faults, hours),
    usual: saidOf('not_a_problem'),
    widening: wideningOf(
      feedback.filter((one) => one.name === name),
      now,
    ),
  }
}

function hoursWithout(faults: readonly TimeRange[], hours: WeekHours): WeekHours {
  const isKnown = hours.isKnown.map((known, index) => (touchesAny(hourAt(hours, index), faults) ? 0 : known))
  return { ...hours, isKnown }
}

/** Marks the known hours of these stretches as usual. */
export function markUsual(isUsual: Uint8Array, { usual, hours }: Learnt): void {
  if (usual.length === 0) return
  for (const [index, known] of hours.isKnown.entries()) {
    if (known === 1 && touchesAny(hourAt(hours, index), usual)) isUsual[index] = 1
  }
}

const hourAt = ({ start }: WeekHours, index: number): TimeRange => {
  const from = start + index * HOUR
  return { from, to: from + HOUR }
}

/** Older feedback widens nothing, because the site may have changed. */
export const LEARNT_FOR = 8 * 7 * DAY
const STEP = 1.5
const MOST_WIDENING = 4
const MOST_STEPS = Math.ceil(Math.log(MOST_WIDENING) / Math.log(STEP))

/**
 * Returns the factor: each alert that was no problem widens by one step, each real one goes one step back, in order of time.
 * Several alerts about the same time (e.g. about silence and volume) are one step.
 */
export function wideningOf(feedback: readonly Feedback[], now: number): number {
  const inOrder = feedback.filter(({ to }) => to > now - LEARNT_FOR).toSorted((a, b) => a.from - b.from || a.to - b.to)
  const until = { not_a_problem: Number.NEGATIVE_INFINITY, real: Number.NEGATIVE_INFINITY }
  let steps = 0
  for (const { verdict, from, to } of inOrder) {
    const isSame = from < until[verdict]
    until[verdict] = Math.max(until[verdict], to)
    if (isSame) continue
    steps = verdict === 'not_a_problem' ? Math.min(MOST_STEPS, steps + 1) : Math.max(0, steps - 1)
  }
  return Math.min(MOST_WIDENING, STEP ** steps)
}

/** Widens no further than `MOST_LEVEL`, so that a subject that is gone is still found. */
export function widened(noise: Noise, widening: number): Noise {
  if (widening === 1) return noise
  const wider = (level: number) => Math.max(level, Math.min(widening * level, MOST_LEVEL))
  return {
    ...noise,
    level: (length) => wider(noise.level(length)),
    ofSilence: (length) => wider(noise.ofSilence(length)),
    steady: (length) => wider(noise.steady(length)),
  }
}

/** Reports in a finding that feedback has widened what passes. */
export const wideningEvidence = (widening: number): { widening?: number } => (widening === 1 ? {} : { widening })
