import { counted, DAY, duration, HOUR, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { type Bursts, burstsNow } from './bursts-now.ts'
import { doubledFinding } from './doubled-finding.ts'
import type { HourLimits } from './expectation.ts'
import { surprise } from './false-alarms.ts'
import { wideningEvidence } from './feedback.ts'
import type { OpenFalls } from './open-fall.ts'
import { passing } from './passing.ts'
import type { Multiples } from './repeats.ts'
import { LEAST_SILENCE, type Silence, type SilenceLimits, visitsToTell } from './silence.ts'
import { sum } from './statistics.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
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
  expectedBetween,
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
  { status, onset, since, isHoliday }: VolumeAssessment,
): Finding {
  const { index, measured, model, chance, limit, kind } = judged
  const covered = course.covered[index] ?? 0
  const expected = model.mean
  const ratio = expected > 0 ? measured / expected : 1
  const what = name === null ? 'event' : `“${name}” event`
  const usual = name === null ? `usually ${number(expected)}` : `its usual share would be ${number(expected)}`
  return {
    subject: subjectOf(name),
    status,
    message: `${againstNormal(ratio)}: ${counted(measured, what)} in ${duration(covered)}, ${usual}${isHoliday ? AS_ON_HOLIDAY : onset === null && since !== null ? NOT_OVER : ''}`,
    measured,
    expected,
    // Findings that are fine are shown only for the site.
    band: status === 'ok' && name !== null ? { low: null, high: null } : passing(judged, limits),
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

/** @param ratio measured over normal */
function againstNormal(ratio: number): string {
  const off = Math.abs(ratio - 1)
  // Would round to 0 %.
  if (off < 0.005) return 'as usual'
  return `${percent(off)} ${ratio < 1 ? 'below' : 'above'} normal`
}

const subjectOf = (name: string | null): Finding['subject'] => (name === null ? {} : { event_name: name })

/**
 * The new event must replace at least this share of the missing ones, give or take one standard deviation (the first visits under the new name may be
 * few), and have at most this multiple of the old one's usual count.
 */
const SUCCESSOR = { least: 0.5, byChance: 0.25, most: 2 } as const

const leastOfSuccessor = (missing: number, { burst }: Bursts): number =>
  Math.max(SUCCESSOR.byChance * missing, SUCCESSOR.least * missing - Math.sqrt(burst * missing))

/** A deploy that renames an event ends one name and begins another: nothing is lost, but people should know. */
function renamed(name: string | null, finding: Finding, bursts: Bursts, { recent, usual }: Seen): Finding {
  const end = recent.buckets.at(-1)?.to ?? 0
  const last = name === null ? null : lastSeen(name, recent, usual)
  if (last === null) return finding
  const successor = [...recent.events].find(([other, counts]) => {
    const first = other === name ? null : firstSeen(other, recent, usual)
    if (first === null || !followsOn(first, last, usual.of(name))) return false
    const came = sum(counts)
    const expected = (finding.expected ?? 0) - (finding.measured ?? 0)
    const since = Math.max(first, end - DAY)
    const usualSince = (of: string | null) => (usual.of(of).hourly * (end - since)) / HOUR
    // If the site has grown since, all its events have more.
    const all = sum(recent.total.filter((_, index) => (recent.buckets[index]?.from ?? end) >= since))
    const before = usualSince(name) * Math.max(1, all / Math.max(1, usualSince(null)))
    return came >= leastOfSuccessor(expected, bursts) && came <= SUCCESSOR.most * Math.max(expected, before)
  })?.[0]
  if (successor === undefined) return finding
  // Both are known only to their bucket.
  const since = Math.max(last, firstSeen(successor, recent, usual) ?? last)
  return {
    ...finding,
    status: 'ok',
    since: null,
    message: `“${name}” has been arriving as “${successor}” for ${duration(end - since)}`,
    evidence: { ...finding.evidence, kind: 'renamed', successor },
  }
}

/**
 * A rare event, or any at night, may take hours from its last time under the old name to the first under the new one: fewer expected visits are no
 * gap.
 */
const VISITS_BETWEEN = 5

function followsOn(first: number, last: number, own: UsualCount): boolean {
  if (Math.abs(first - last) <= HOUR) return true
  // Both are known to the hour.
  return first > last && expectedBetween(own, { from: last + HOUR, to: first }) <= VISITS_BETWEEN * own.noise.group
}

const firstSeen = (name: string, { buckets, events }: RecentCounts, usual: UsualCounts): number | null =>
  usual.of(name).seen?.from ?? buckets[(events.get(name) ?? []).findIndex((count) => count > 0)]?.from ?? null

const lastSeen = (name: string, { buckets, events }: RecentCounts, usual: UsualCounts): number | null =>
  buckets[(events.get(name) ?? []).findLastIndex((count) => count > 0)]?.from ?? usual.of(name).seen?.to ?? null
