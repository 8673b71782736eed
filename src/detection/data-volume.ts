import { counted, DAY, duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { type Bursts, burstsNow } from './bursts-now.ts'
import { doubledFinding } from './doubled-finding.ts'
import type { HourLimits } from './expectation.ts'
import { surprise } from './false-alarms.ts'
import { wideningEvidence } from './feedback.ts'
import { BACK_AT, type OpenFalls } from './open-fall.ts'
import { passing } from './passing.ts'
import { renamed } from './renamed-event.ts'
import type { Multiples } from './repeats.ts'
import { LEAST_SILENCE, type Silence, type SilenceLimits, visitsToTell } from './silence.ts'
import type { UsualCounts } from './usual-counts.ts'
import { type Finding, isBad, type Verdict, verdictOf } from './verdict.ts'
import {
  assessVolume,
  type CountedSubject,
  doublingBudget,
  limitsOf,
  type VolumeAssessment,
  type VolumeConfig,
  type VolumeLimits,
} from './volume-assessment.ts'
import {
  type BucketCounts,
  byMinute,
  courseOf,
  longestGap,
  quietFor,
  type RecentCounts,
  siteExpectations,
} from './volume-counts.ts'
import { doublingOf, mayHaveDoubled } from './volume-doubling.ts'
import type { WindowVerdict } from './volume-fall.ts'

export interface VolumeInput {
  recent: RecentCounts
  usual: UsualCounts
  /** For events that may have doubled: how they came by the minute, newest hour first, see `doublingCandidates`. */
  repeats?: ReadonlyMap<string, readonly Multiples[]>
  /** When an earlier run last found that all events broke off, see `hasBrokenOff`: that fall is no holiday. */
  brokeOffAt?: number | null
  /** The falls that the last run found, see `openFalls`. */
  open?: OpenFalls
}

/** Returns the events whose `repeats` `dataVolume` needs; limited in number, as a site may have hundreds. */
export function doublingCandidates({ recent, usual }: VolumeInput, config: VolumeConfig): string[] {
  if (!config.doubled) return []
  const ofSite = siteExpectations(recent, usual)
  const budget = doublingBudget(config, usual.names.length)
  const mayHave = (name: string) =>
    mayHaveDoubled({
      name,
      recent,
      usual,
      ofSite,
      budget,
      bursts: burstsNow(name, recent, usual, usual.of(name).noise),
    })
  return usual.names.filter(mayHave).slice(0, MOST_CANDIDATES)
}

const MOST_CANDIDATES = 20

/** Judges whether a site and each of its events come as often as is usual at this hour. */
export function dataVolume(
  { recent, usual, repeats = new Map(), brokeOffAt = null, open = new Map() }: VolumeInput,
  config: VolumeConfig,
): Verdict {
  const minutes = byMinute(recent)
  const seen: Seen = {
    ...{ recent, minutes, usual, repeats, brokeOffAt, open },
    ofSite: siteExpectations(recent, usual),
    ofSiteByMinute: siteExpectations(minutes, usual),
  }
  const judge = (name: string | null) => judgeSubject(name, seen, config)
  const site = judge(null)
  const ofEvents = usual.names.map(judge)
  const names = ofEvents.flatMap((finding) => (finding?.evidence.kind === 'renamed' ? finding.message : []))
  const whenFine = [site?.message ?? 'too few events are expected to judge', ...names].join('; ')
  return verdictOf([site, ...ofEvents], whenFine)
}

/** Whether all events of a site have fallen abruptly. */
export const hasBrokenOff = ({ details }: Verdict): boolean =>
  details.findings.some(
    ({ subject, evidence, ...finding }) =>
      isBad(finding) && subject.event_name === undefined && evidence.course === 'sudden',
  )

/** What the judgement of all subjects of a site needs. */
interface Seen extends Required<VolumeInput> {
  /** The newest part by the minute. */
  readonly minutes: BucketCounts
  readonly ofSite: Float64Array
  readonly ofSiteByMinute: Float64Array
}

function judgeSubject(name: string | null, seen: Seen, config: VolumeConfig): Finding | null {
  const { recent, usual } = seen
  const own = usual.of(name)
  const isQuiet = quietFor(recent.minutes, name) >= LEAST_SILENCE
  const subject: CountedSubject = {
    isSite: name === null,
    course: courseOf(name, recent, usual, seen.ofSite),
    minutes: isQuiet ? courseOf(name, seen.minutes, usual, seen.ofSiteByMinute) : null,
    longestGap: longestGap(recent.minutes, name),
    usual: own,
    bursts: burstsNow(name, recent, usual, own.noise),
    ofSite: usual,
    brokeOffAt: seen.brokeOffAt,
    open: seen.open.get(name) ?? null,
  }
  const limits = limitsOf(config, name === null ? null : usual.names.length)
  const assessed = assessVolume(subject, limits)
  const { status, silence, window } = assessed
  const finding =
    silence === null
      ? window === null
        ? null
        : unusual(name, subject, window, limits, assessed)
      : silent(name, silence, subject.bursts.group)
  const isLow = finding !== null && finding.status !== 'ok' && window?.kind !== 'spike'
  const twice = name === null || isLow ? null : doubledOf(name, seen, subject.bursts, config)
  if (twice === null && (finding === null || status === 'ok')) return finding
  const bad = twice ?? finding
  if (bad === null) return null
  const evidence = { ...bad.evidence, ...wideningEvidence(own.widening) }
  return twice === null ? renamed(name, { ...bad, evidence }, subject.bursts, seen) : { ...bad, evidence }
}

function doubledOf(name: string, seen: Seen, bursts: Bursts, config: VolumeConfig): Finding | null {
  if (!config.doubled) return null
  const { recent, usual, ofSite } = seen
  const budget = doublingBudget(config, usual.names.length)
  const doubling = doublingOf({ name, recent, usual, ofSite, bursts, budget }, seen.repeats.get(name))
  return doubling === null ? null : doubledFinding(name, doubling, bursts)
}

/**
 * Returns which counts of an hour pass.
 *
 * @param name of an event, null for all
 */
export function hourLimits(name: string | null, usual: UsualCounts, config: VolumeConfig): HourLimits {
  const limits = limitsOf(config, name === null ? null : usual.names.length)
  return { fall: limits, silenceBudget: limits.silenceBudget, minVisits: limits.minVisits }
}

/** How far a site with too few events is from being judged. */
export interface VolumeSoFar {
  /** The stretch up to now that can be compared, ms. */
  readonly covered: number
  readonly events: number
  /** What is usual in it. */
  readonly usual: number
  /** What would have to be usual. */
  readonly needed: number
}

/** Null while there is nothing to compare the newest events with. */
export const volumeSoFar = (input: VolumeInput, config: VolumeConfig): VolumeSoFar | null =>
  silenceSoFar(input, limitsOf(config, null))

/**
 * How far a site is from having so many events that a day without any would be bad.
 *
 * @param group average number of events per visit, if the caller has estimated it already
 */
export function silenceSoFar(
  { recent, usual }: VolumeInput,
  limits: SilenceLimits,
  group = burstsNow(null, recent, usual, usual.of(null).noise).group,
): VolumeSoFar | null {
  const { measured, expected, covered } = courseOf(null, recent, usual)
  const [events, mean, length] = [measured.at(-1), expected.at(-1), covered.at(-1)]
  if (events === undefined || mean === undefined || length === undefined) return null
  const needed = group * visitsToTell(usual.of(null).noise.ofSilence(length), length, limits)
  return { covered: length, events, usual: mean, needed }
}

function silent(name: string | null, silence: Silence, group: number): Finding {
  const { from, covered, expected, level, visits, chance, limit } = silence
  const what = name === null ? 'events' : `“${name}” events`
  const usual =
    name === null ? `usually ${number(expected)} in that time` : `its usual share would be ${number(expected)}`
  return {
    subject: subjectOf(name),
    status: 'critical',
    message: `no ${what} for ${duration(covered)}; ${usual}`,
    measured: 0,
    expected,
    band: { low: 1, high: null },
    since: isoTime(from),
    evidence: {
      kind: 'zero',
      window_minutes: covered / MINUTE,
      ...surprise(chance, limit),
      visits_missing: visits,
      visit_size: group,
      level_before: level,
    },
  }
}

function unusual(
  name: string | null,
  { course, bursts }: CountedSubject,
  judged: WindowVerdict,
  limits: VolumeLimits,
  assessment: VolumeAssessment,
): Finding {
  const { status, onset, since, isHoliday } = assessment
  const { index, measured, model, chance, limit, kind } = judged
  const covered = course.covered[index] ?? 0
  const expected = model.mean
  const ratio = expected > 0 ? measured / expected : 1
  const isKept = onset === null && since !== null
  // Chance may explain what came since a fall was found, but the fall is not over at it.
  const passes = { ...passing(judged, limits), ...(isKept ? { low: BACK_AT * expected } : {}) }
  const what = name === null ? 'event' : `“${name}” event`
  const usual = name === null ? `usually ${number(expected)}` : `its usual share would be ${number(expected)}`
  return {
    subject: subjectOf(name),
    status,
    message: `${againstNormal(ratio)}: ${counted(measured, what)} in ${duration(covered)}, ${usual}${noteOf(assessment, course.to)}`,
    measured,
    expected,
    // Findings that are fine are shown only for the site.
    band: status === 'ok' && name !== null ? { low: null, high: null } : passes,
    since: status === 'ok' ? null : isoTime(since ?? course.from[index] ?? course.to),
    evidence: {
      kind: isHoliday ? 'holiday' : kind,
      window_minutes: covered / MINUTE,
      ratio,
      ...surprise(chance, limit),
      burst_size: bursts.burst,
      course: onset === null ? null : onset.isOld ? 'over a day' : onset.isSudden ? 'sudden' : 'gradual',
    },
  }
}

/** People who see green must know why, and when it ends. */
const AS_ON_HOLIDAY = '; it fell over the morning as on a holiday: an alert opens only if it is low tomorrow, too'

/** Chance alone may explain so few. */
const NOT_OVER = '; the counts do not show yet that the fall is over'
/** Counts show that a level is back, never that a lower one is there to stay. */
const NEW_LEVEL = ': if this is the new level, answer “Not a problem” on the alert'
const LONG_FALL = 2 * DAY

function noteOf({ onset, since, isHoliday }: VolumeAssessment, now: number): string {
  if (isHoliday) return AS_ON_HOLIDAY
  if (onset !== null || since === null) return ''
  return now - since < LONG_FALL ? NOT_OVER : `${NOT_OVER}${NEW_LEVEL}`
}

/** Larger multiples say nothing: hardly any are usual. */
const MOST_TIMES = 100

/** @param ratio measured over normal */
function againstNormal(ratio: number): string {
  if (ratio > MOST_TIMES) return 'far above normal'
  const off = Math.abs(ratio - 1)
  // Would round to 0 %.
  if (off < 0.005) return 'as usual'
  return `${percent(off)} ${ratio < 1 ? 'below' : 'above'} normal`
}

const subjectOf = (name: string | null): Finding['subject'] => (name === null ? {} : { event_name: name })
