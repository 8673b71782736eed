import type { Silence } from './silence.ts'
import { median, robustSpread } from './statistics.ts'
import type { Status } from './verdict.ts'
import { expectedOf, type Window } from './volume-window.ts'

export interface VolumeConfig {
  /** Which deviations are bad; others are only mentioned. */
  direction: 'down' | 'up' | 'both'
  /** Weeks that the same hours are compared with. */
  weeks: number
  /** No event at all is critical once this many bursts were expected. */
  min_expected: number
  /** Standard deviations from the expected count, and … */
  warning_z: number
  /** … the share of it that is not reached (or, upwards, whose inverse is exceeded): both make a warning. */
  warning_ratio: number
}

export const DATA_VOLUME_DEFAULTS: VolumeConfig = {
  direction: 'down',
  weeks: 4,
  min_expected: 15,
  warning_z: 3,
  warning_ratio: 0.5,
}

/** Several windows and several names reach three standard deviations by chance too often. */
export const longerWindowZ = ({ warning_z }: VolumeConfig): number => warning_z + 1

export type Kind = 'zero' | 'fall' | 'spike' | 'usual'

/** The result of the most significant window. */
export interface VolumeAssessment extends Expectation, Deviation {
  readonly kind: Kind
  readonly window: Window
}

/**
 * Assesses the shortest window in which silence would be significant, then the shortest in which half the events would. Null
 * when no window is long enough or there is nothing to compare with.
 *
 * @param windows that all end now, the shortest first
 * @param burst see `burstSize`
 */
export function assessVolume(windows: Iterable<Window>, burst: number, config: VolumeConfig): VolumeAssessment | null {
  const silenceMeans = config.min_expected * burst
  const halfMeans = burst * (longerWindowZ(config) / (1 - config.warning_ratio)) ** 2
  let last: VolumeAssessment | null = null
  let isShortest = true
  for (const window of windows) {
    const limits = isShortest ? config : { ...config, warning_z: longerWindowZ(config) }
    isShortest = false
    const expected = expectedOf(window)
    if (Number.isNaN(expected)) return last
    if (expected < window.caution * (last === null ? silenceMeans : halfMeans)) continue
    const assessment = assessWindow(window, burst, limits)
    if (assessment === null || assessment.kind !== 'usual' || expected >= window.caution * halfMeans) return assessment
    last = assessment
  }
  return last
}

/** @param silence one that chance does not explain, see `silenceOf` */
export const assessSilence = (silence: Silence, burst: number, config: VolumeConfig): VolumeAssessment | null =>
  assessWindow(silence.window, burst, config)

function assessWindow(window: Window, burst: number, config: VolumeConfig): VolumeAssessment | null {
  const expectation = expectationOf(window.samples, burst)
  if (expectation === null) return null
  const { z, ratio } = deviation(window.measured, expectation, burst)
  const kind = kindOf(window, z, ratio, config)
  return { ...expectation, z, ratio, kind, window }
}

function kindOf({ measured, caution }: Window, z: number, ratio: number, config: VolumeConfig): Kind {
  if (measured === 0) return 'zero'
  if (z <= -config.warning_z && ratio * caution < config.warning_ratio) return 'fall'
  return z >= config.warning_z && ratio / caution > 1 / config.warning_ratio ? 'spike' : 'usual'
}

/** Silence is bad at once; too few or too many events only when it was so the time before, too. */
export function statusOf(kind: Kind, before: Kind | null, { direction }: VolumeConfig): Status {
  if (kind === 'usual') return 'ok'
  if (kind === 'spike') return direction !== 'down' && before === 'spike' ? 'warning' : 'ok'
  if (direction === 'up') return 'ok'
  if (kind === 'zero') return 'critical'
  return before === 'fall' || before === 'zero' ? 'warning' : 'ok'
}

/** What a count should be. */
interface Expectation {
  readonly expected: number
  /** One standard deviation, as far as it is known. */
  readonly spread: number
  /** Of how many earlier counts the expectation was made. */
  readonly samples: number
}

/** How far a count is from what was expected. */
interface Deviation {
  /** Negative where there is less than expected. */
  readonly z: number
  /** Measured over expected; infinite where nothing was expected and something came. */
  readonly ratio: number
}

/**
 * The median of the same stretch in earlier weeks, so that one week with a sale or an outage does not move it. The spread
 * is the larger of what the weeks differ by and of what chance does to a count: √n for events that come alone, √(n·b) for
 * events that come `b` at a time (sessions, batches).
 */
function expectationOf(samples: readonly number[], burst: number): Expectation | null {
  if (samples.length === 0) return null
  const expected = median(samples)
  const spread = Math.max(robustSpread(samples, expected), Math.sqrt(burst * Math.max(0, expected)))
  return { expected, spread, samples: samples.length }
}

/** A count of nothing has no spread of its own; it is judged as if one burst had been expected. */
function deviation(measured: number, { expected, spread }: Expectation, burst: number): Deviation {
  const difference = measured - expected
  return {
    z: difference === 0 ? 0 : difference / Math.max(spread, Math.sqrt(burst)),
    ratio: expected > 0 ? measured / expected : measured > 0 ? Number.POSITIVE_INFINITY : 1,
  }
}
