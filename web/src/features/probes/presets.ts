import { duration } from '../../lib/words.ts'

const INTERVALS = [30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]
export const THRESHOLDS = [1, 2, 3, 5, 10, 20]

interface Option {
  value: string
  label: string
}

/** The intervals that a type allows, and the current one. */
export const intervalOptions = (least: number, now: number): Option[] =>
  withNow(INTERVALS, now)
    .filter((seconds) => seconds >= least || seconds === now)
    .map((seconds) => ({ value: String(seconds), label: inWords(seconds) }))

const ONE: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 86400: 'day' }

/** The words after "every": "minute", "5 min"; "90 s" stays in seconds, because minutes would round it. */
export const inWords = (seconds: number): string => {
  if (seconds >= 60 && seconds % 60 !== 0) return `${seconds} s`
  return ONE[seconds] ?? duration(seconds * 1_000)
}

export const thresholdOptions = (kind: 'failure' | 'recovery', now: number): Option[] =>
  withNow(THRESHOLDS, now).map((count) => ({
    value: String(count),
    label:
      kind === 'failure'
        ? count === 1
          ? 'with the first bad result'
          : `after ${count} bad results in a row`
        : count === 1
          ? 'with the first good result'
          : `after ${count} good results in a row`,
  }))

const withNow = (presets: readonly number[], now: number): number[] =>
  presets.includes(now) ? [...presets] : [...presets, now].toSorted((a, b) => a - b)

/** The time from a failure until its alert opens. */
export function alertDelay(intervalSeconds: number, failures: number): string {
  const [least, most] = [(failures - 1) * intervalSeconds, failures * intervalSeconds]
  const span =
    least === 0 ? `at most ${duration(most * 1_000)}` : `${duration(least * 1_000)} to ${duration(most * 1_000)}`
  return `An alert opens ${span} after something breaks. A check that could not be made neither counts nor clears.`
}
