import { DAY, HOUR } from '../lib/index.ts'
import { MOST_LEVEL, type Noise } from './count-noise.ts'
import { type TimeRange, touchesAny, type WeekHours } from './time.ts'

export const FEEDBACK_VERDICTS = ['not_a_problem', 'real'] as const
export type FeedbackVerdict = (typeof FEEDBACK_VERDICTS)[number]

/** What people said of an alert: nothing was wrong in its time, or something was. */
export interface Feedback extends TimeRange {
  readonly verdict: FeedbackVerdict
  /** Of an event; null: of all events of the site. */
  readonly name: string | null
}

/** What feedback changes for one subject. */
export interface Learnt {
  /** The hours that are compared with, without those of real faults. */
  readonly hours: WeekHours
  /** Stretches that count as usual, whatever came. */
  readonly usual: readonly TimeRange[]
  /** By how much the relative variance of its level is larger than measured: 1–4. */
  readonly widening: number
}

/** What was said about the site says of its events, too, which hours count; but it was the site that alarmed, so only its spread is widened. */
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

/** Counts the known hours of these stretches as usual. */
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

/** Older feedback widens nothing: the site may have changed since. */
const LEARNT_FOR = 8 * 7 * DAY
const STEP = 1.5
const MOST_WIDENING = 4
const MOST_STEPS = Math.ceil(Math.log(MOST_WIDENING) / Math.log(STEP))

/**
 * Each alert that was no problem widens by a step, each real one takes a step back, in the order of their times. Several alerts about the
 * same time (of silence and of volume, say) are one step.
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

/** Never further than the most that is believed of any level: a subject that is gone has to be found all the same. */
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

/** Says that people's feedback has widened what passes. */
export const wideningEvidence = (widening: number): { widening?: number } => (widening === 1 ? {} : { widening })
