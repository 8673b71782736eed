import { DAY, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { logLimit } from './false-alarms.ts'
import { mayBeHoliday } from './holiday.ts'
import { keptFall, type OpenFall } from './open-fall.ts'
import { lastSilenceEnded, type Silence, type SilenceLimits, silenceOf, visitsToTell } from './silence.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import type { Status } from './verdict.ts'
import { type Course, courseSince } from './volume-counts.ts'
import { type FallLimits, judgeWindows, type WindowVerdict } from './volume-fall.ts'
import { type Onset, onsetOf } from './volume-onset.ts'

export interface VolumeConfig {
  /** Which deviations are bad; others are only mentioned. */
  direction: 'down' | 'up' | 'both'
  /** Number of weeks whose same hours are compared. */
  weeks: number
  /** Approximate number of false alarms accepted in 30 days, for the site and all its events together. */
  false_alarms: number
  /** No event at all is bad only if this many visits or batches were expected. */
  min_expected: number
  /** Too few or too many are bad only this many standard deviations from the expectation, and … */
  warning_z: number
  /** … below this share of it (or, upwards, above its inverse). */
  warning_ratio: number
  /** Whether an event that comes twice as often as its visits explain is bad, whatever the direction. */
  doubled: boolean
}

export const DATA_VOLUME_DEFAULTS: VolumeConfig = {
  direction: 'down',
  weeks: 4,
  false_alarms: 0.15,
  min_expected: 5,
  warning_z: 2,
  warning_ratio: 0.65,
  doubled: true,
}

/**
 * Shares of the budget: for silences and falls of the site, and for those of all its events together. Doublings are extra,
 * because falls of events, which are compared with the other events, use almost nothing of their share.
 */
const SHARES = { silence: 0.2, fall: 0.3, eventSilence: 0.25, eventFall: 0.25, eventDoubled: 0.2 } as const
/**
 * On healthy sites, silences use less than a seventh of their shares (bench/detection/calibration.ts), because visits are
 * estimated larger than most are. With three times the share, about a twelfth fewer missing visits are needed.
 */
const UNUSED_BY_SILENCE = 3

/** What is accepted for one subject. */
export interface VolumeLimits extends FallLimits, SilenceLimits {
  readonly direction: VolumeConfig['direction']
  /** Age from which on a fall is over, ms: all that is usual was learnt since. */
  readonly oldestFall: number
}

/** @param events how many events share the budget; null for the site itself */
export function limitsOf(config: VolumeConfig, events: number | null): VolumeLimits {
  const ofEvent = config.false_alarms / Math.max(1, events ?? 1)
  return {
    direction: config.direction,
    oldestFall: config.weeks * 7 * DAY,
    ratio: config.warning_ratio,
    z: config.warning_z,
    minVisits: config.min_expected,
    budget: events === null ? SHARES.fall * config.false_alarms : SHARES.eventFall * ofEvent,
    silenceBudget:
      UNUSED_BY_SILENCE * (events === null ? SHARES.silence * config.false_alarms : SHARES.eventSilence * ofEvent),
  }
}

/**
 * False alarms a month accepted for the doublings of one event.
 *
 * @param events how many events share the budget
 */
export const doublingBudget = ({ false_alarms }: VolumeConfig, events: number): number =>
  (SHARES.eventDoubled * false_alarms) / Math.max(1, events)

/** The counts of a site or of one of its events, with what is usual for them. */
export interface CountedSubject {
  readonly isSite: boolean
  readonly course: Course
  /** The same with the newest part by the minute; null when something came in the last minutes, so that there is no silence. */
  readonly minutes: Course | null
  /** Longest gap between events of the newest minutes, ms. */
  readonly longestGap: number
  readonly usual: Pick<UsualCount, 'noise' | 'alone' | 'widening' | 'expectedIn'>
  readonly bursts: Bursts
  /** Null or absent when the last run found no fall. */
  readonly open?: OpenFall | null
  /** What is usual for its site. */
  readonly ofSite: UsualCounts
  /** See `SiteCounts`. */
  readonly brokeOffAt?: number | null
}

export interface VolumeAssessment {
  readonly status: Status
  /** Null when something comes, or when chance explains the silence. */
  readonly silence: Silence | null
  /** Null when nothing can be judged, and during a silence. */
  readonly window: WindowVerdict | null
  /** Onset of a fall that this run found. */
  readonly onset: Onset | null
  /** Beginning of a fall: of one that an earlier run found, and that is not over, as it was found. */
  readonly since: number | null
  /** Whether the fall may be a holiday, so that it passes until the day is over. */
  readonly isHoliday: boolean
}

/** Judges silence first, because it is known to the minute, then too few or too many. */
export function assessVolume(subject: CountedSubject, limits: VolumeLimits): VolumeAssessment {
  const { course, usual, bursts, isSite } = subject
  const { minutes, longestGap } = subject
  const silence = minutes === null ? null : silenceOf(minutes, longestGap, usual.noise, bursts, limits.silenceBudget)
  const isSilent = silence !== null && silence.chance < silence.limit && silence.visits >= limits.minVisits
  if (isSilent && limits.direction !== 'up')
    return { status: 'critical', silence, window: null, onset: null, since: null, isHoliday: false }
  const silenceEnded = lastSilenceEnded(course, usual.noise, bursts, limits)
  const judged = silenceEnded === null ? course : courseSince(course, silenceEnded)
  const found = judgeWindows(judged, usual, bursts, isSite, limits)
  const open = subject.open != null && course.to - subject.open.since < limits.oldestFall ? subject.open : null
  const kept = open === null ? null : keptFall(course, open, usual, bursts.burst, isSite, limits)
  const onset = found?.kind === 'fall' ? onsetOf(judged, bursts.burst, usual.noise.steady(HOUR)) : null
  const window = (onset === null ? kept : null) ?? found ?? wholeCourse(subject, limits)
  // A site that was low before a holiday began is low because of something else.
  const isHoliday = isSite && onset !== null && kept === null && mayBeHoliday(course, judged, subject)
  const status = isHoliday ? 'ok' : statusOf(window?.kind, limits.direction)
  const begins = [onset?.since ?? [], kept === null ? [] : (open?.since ?? [])].flat()
  const since = begins.length === 0 ? null : Math.min(...begins)
  return { status, silence: null, window, onset, since, isHoliday }
}

/** When even the longest window is too short to judge a fall, it may still judge silence. Null when it does not, or is shorter than a day. */
function wholeCourse({ course, usual, bursts }: CountedSubject, limits: VolumeLimits): WindowVerdict | null {
  const index = course.from.length - 1
  const [measured, expected, covered] = [course.measured[index], course.expected[index], course.covered[index]]
  if (measured === undefined || expected === undefined || covered === undefined || covered < LEAST_COURSE) return null
  const noise = usual.noise.ofSilence(covered)
  if (expected / bursts.group < visitsToTell(noise, covered, limits)) return null
  const model = { mean: expected, burst: bursts.burst, noise }
  return { kind: 'usual', index, measured, model, chance: 0, limit: logLimit(limits.silenceBudget, covered) }
}

const LEAST_COURSE = 23 * HOUR

function statusOf(kind: WindowVerdict['kind'] | undefined, direction: VolumeConfig['direction']): Status {
  if (kind === 'fall') return direction === 'up' ? 'ok' : 'warning'
  return kind === 'spike' && direction !== 'down' ? 'warning' : 'ok'
}
