import { duration, HOUR, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { type Bursts, burstsNow, byMinute, type Silence, silenceOf } from './silence.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'
import {
  assessSilence,
  assessVolume,
  longerWindowZ,
  statusOf,
  type VolumeAssessment,
  type VolumeConfig,
} from './volume-assessment.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import { type BucketCounts, expectedOf, type RecentCounts, type Window, windowsBack } from './volume-window.ts'

export interface VolumeInput {
  recent: RecentCounts
  baseline: VolumeBaseline
}

/** Whether a site, and each of its events, comes as often as at the same hours of the last weeks. */
export function dataVolume({ recent, baseline }: VolumeInput, config: VolumeConfig): Verdict {
  const fine = byMinute(recent)
  const judge = (name: string | null) => judgeSubject(name, recent, fine, baseline, config)
  const site = judge(null)
  return verdictOf([site, ...baseline.names.map(judge)], site?.message ?? 'too few events are expected to judge')
}

/** How far a site that has too few events to be judged is from it. */
export interface VolumeSoFar {
  /** The stretch up to now that can be compared with, ms. */
  readonly covered: number
  readonly events: number
  /** What earlier weeks had in it. */
  readonly usual: number
  /** What they must have had. */
  readonly needed: number
  /** Likewise, once there are weeks to compare with; null where there are. */
  readonly neededInWeeks: number | null
}

/** Null while nothing is known to compare the newest events with. */
export function volumeSoFar({ recent, baseline }: VolumeInput, config: VolumeConfig): VolumeSoFar | null {
  const needed = config.min_expected * burstsNow(null, recent, baseline).burst
  let soFar: VolumeSoFar | null = null
  for (const window of windowsBack(recent, baseline, null, 0)) {
    const { covered, measured, caution } = window
    const usual = expectedOf(window)
    if (Number.isNaN(usual)) break
    const neededInWeeks = caution > 1 ? needed : null
    soFar = { covered, events: measured, usual, needed: caution * needed, neededInWeeks }
  }
  return soFar
}

function judgeSubject(
  name: string | null,
  recent: RecentCounts,
  fine: BucketCounts,
  baseline: VolumeBaseline,
  config: VolumeConfig,
): Finding | null {
  const limits = name === null ? config : { ...config, warning_z: longerWindowZ(config) }
  const bursts = burstsNow(name, recent, baseline)
  const { burst } = bursts
  const silence = silenceOf(fine, baseline, name, bursts, config.min_expected)
  const assessment =
    (silence === null ? null : assessSilence(silence, burst, limits)) ??
    assessVolume(windowsBack(recent, baseline, name, 0), burst, limits)
  if (assessment === null) return null
  const isUnusual = assessment.kind === 'fall' || assessment.kind === 'spike'
  const before = isUnusual ? assessVolume(windowsBack(recent, baseline, name, 1), burst, limits) : null
  const status = statusOf(assessment.kind, before?.kind ?? null, config)
  const onset =
    status === 'ok' || assessment.kind === 'spike' ? null : onsetOf([...windowsBack(recent, baseline, name, 0)], burst)
  const isHoliday = name === null && assessment.kind === 'fall' && onset !== null && mayBeHoliday(onset)
  return finding({ name, assessment, silence, status: isHoliday ? 'ok' : status, bursts, onset }, config)
}

/** A holiday is a site that goes to its level over hours, all events alike; it ends within a day. */
const mayBeHoliday = ({ isSudden, isOld }: Onset): boolean => !isSudden && !isOld

interface Seen {
  readonly name: string | null
  readonly assessment: VolumeAssessment
  readonly silence: Silence | null
  readonly status: Status
  readonly bursts: Bursts
  readonly onset: Onset | null
}

function finding({ name, assessment, silence, status, bursts, onset }: Seen, config: VolumeConfig): Finding {
  const { window, expected, spread, z, ratio, samples, kind } = assessment
  return {
    subject: name === null ? {} : { event_name: name },
    status,
    message: messageOf(name, assessment),
    measured: window.measured,
    expected,
    band: {
      low: Math.max(
        window.measured === 0 ? 1 : 0,
        Math.min(expected - config.warning_z * spread, expected * config.warning_ratio),
      ),
      high: Math.max(expected + config.warning_z * spread, expected / config.warning_ratio),
    },
    since: status === 'ok' ? null : isoTime(silence?.window.from ?? onset?.since ?? window.from),
    evidence: {
      kind,
      window_minutes: window.covered / MINUTE,
      z,
      ratio: Number.isFinite(ratio) ? ratio : null,
      burst_size: bursts.burst,
      visit_size: bursts.group,
      level_before: silence?.level ?? null,
      visits_missing: silence?.visits ?? null,
      earlier_counts: samples,
      course: onset === null ? null : courseOf(onset),
    },
  }
}

const courseOf = ({ isOld, isSudden }: Onset): string => (isOld ? 'over a day' : isSudden ? 'sudden' : 'gradual')

function messageOf(name: string | null, { window, expected, ratio }: VolumeAssessment): string {
  const what = name === null ? 'events' : `“${name}” events`
  const time = duration(window.covered)
  const isNone = window.measured === 0
  const usual =
    name === null
      ? `${number(expected)} are usual ${isNone ? 'in that time' : 'at this hour'}`
      : `its usual share would be ${number(expected)}`
  if (isNone) return `no ${what} for ${time}; ${usual}`
  return `${number(window.measured)} ${what} in ${time}, ${percent(ratio)} of what to expect; ${usual}`
}

/** Since when there is less than there should be, and how that began. */
interface Onset {
  /** Start of the bucket in which it began, epoch ms. */
  readonly since: number
  /** Whether it began before all the windows. */
  readonly isOld: boolean
  /** Whether the level broke off rather than sank. */
  readonly isSudden: boolean
}

/** Below this share of the expected count a bucket speaks for a fall, above it against one: half way from whole to half. */
const NEUTRAL_SHARE = 0.75
/** A fault cuts the level of the hour before by at least this much. Holidays and storms sink into their level over hours. */
const SUDDEN_SHARE = 0.6

/** Bursts that a level is taken from: with fewer it says nothing. */
const BURSTS_FOR_LEVEL = 20
const LONGEST_LEVEL = 6 * HOUR

/**
 * The beginning is where the missing events add up to most (CUSUM, Page 1954).
 *
 * @param windows as from `windowsBack`, all of them
 */
function onsetOf(windows: readonly Window[], burst: number): Onset | null {
  const steps = windows
    .map((window) => ({ from: window.from, measured: window.measured, expected: expectedOf(window) }))
    .filter(({ expected }) => !Number.isNaN(expected))
  const deficit = (step: WindowSum) => NEUTRAL_SHARE * step.expected - step.measured
  const start = steps.reduce<WindowSum | null>(
    (best, s) => (best === null || deficit(s) > deficit(best) ? s : best),
    null,
  )
  const oldest = steps.at(-1)
  if (start === null || oldest === undefined) return null
  const isOld = start === oldest
  const before = steps.find((step) => isEnough(step, start, burst))
  const after = steps.findLast((step) => isEnough(start, step, burst)) ?? NOTHING
  // A level that cannot be distinguished from noise is not known to have broken off.
  const isSudden =
    !isOld &&
    before !== undefined &&
    start.from - before.from <= LONGEST_LEVEL &&
    level(start, after) <= SUDDEN_SHARE * level(before, start)
  return { since: start.from, isOld, isSudden }
}

const NOTHING: WindowSum = { from: Number.POSITIVE_INFINITY, measured: 0, expected: 0 }

/** Whether what the longer window has beyond the shorter is an hour at least, and bursts enough for a level. */
const isEnough = (longer: WindowSum, shorter: WindowSum, burst: number): boolean =>
  longer.from <= shorter.from - HOUR && longer.expected - shorter.expected >= BURSTS_FOR_LEVEL * burst

interface WindowSum {
  readonly from: number
  readonly measured: number
  readonly expected: number
}

/** Measured over expected in what the longer window has beyond the shorter. */
function level(longer: WindowSum, shorter: WindowSum): number {
  const expected = longer.expected - shorter.expected
  return expected > 0 ? (longer.measured - shorter.measured) / expected : 1
}
