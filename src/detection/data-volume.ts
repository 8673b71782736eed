import { isoTime, MINUTE } from '../lib/index.ts'
import { burstNow } from './burst-now.ts'
import { type Look, longerWindowZ, lookAt, statusOf, type VolumeConfig } from './look.ts'
import { type Onset, onsetOf } from './onset.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import { type RecentCounts, windowsBack } from './volume-window.ts'
import { duration, number, percent } from './words.ts'

export interface VolumeInput {
  recent: RecentCounts
  baseline: VolumeBaseline
}

/** Whether a site, and each of its events, comes as often as at the same hours of the last weeks. */
export function dataVolume({ recent, baseline }: VolumeInput, config: VolumeConfig): Verdict {
  const judge = (name: string | null) => judgeSubject(name, recent, baseline, config)
  const site = judge(null)
  return verdictOf([site, ...baseline.names.map(judge)], site?.message ?? 'too few events are expected to judge')
}

function judgeSubject(
  name: string | null,
  recent: RecentCounts,
  baseline: VolumeBaseline,
  config: VolumeConfig,
): Finding | null {
  const limits = name === null ? config : { ...config, warning_z: longerWindowZ(config) }
  const burst = burstNow(name, recent, baseline)
  const look = lookAt(windowsBack(recent, baseline, name, 0), burst, limits)
  if (look === null) return null
  const isUnusual = look.kind === 'fall' || look.kind === 'spike'
  const before = isUnusual ? lookAt(windowsBack(recent, baseline, name, 1), burst, limits) : null
  const status = statusOf(look.kind, before?.kind ?? null, config)
  const onset =
    status === 'ok' || look.kind === 'spike' ? null : onsetOf([...windowsBack(recent, baseline, name, 0)], burst)
  const isHoliday = name === null && look.kind === 'fall' && onset !== null && mayBeHoliday(onset)
  return finding(name, look, isHoliday ? 'ok' : status, burst, onset, config)
}

/** A holiday is a site that goes to its level over hours, all events alike; it is over before a day is. */
const mayBeHoliday = ({ isSudden, isOld }: Onset): boolean => !isSudden && !isOld

function finding(
  name: string | null,
  look: Look,
  status: Status,
  burst: number,
  onset: Onset | null,
  config: VolumeConfig,
): Finding {
  const { window, expected, spread, z, ratio, samples, kind } = look
  return {
    subject: name === null ? {} : { event_name: name },
    status,
    message: messageOf(name, look),
    measured: window.measured,
    expected,
    band: {
      low: Math.max(0, Math.min(expected - config.warning_z * spread, expected * config.warning_ratio)),
      high: Math.max(expected + config.warning_z * spread, expected / config.warning_ratio),
    },
    since: status === 'ok' ? null : isoTime(onset?.since ?? window.from),
    evidence: {
      kind,
      window_minutes: (window.to - window.from) / MINUTE,
      z,
      ratio: Number.isFinite(ratio) ? ratio : null,
      burst_size: burst,
      earlier_counts: samples,
      course: onset === null ? null : courseOf(onset),
    },
  }
}

const courseOf = ({ isOld, isSudden }: Onset): string => (isOld ? 'over a day' : isSudden ? 'sudden' : 'gradual')

function messageOf(name: string | null, { kind, window, expected, ratio }: Look): string {
  const what = name === null ? 'events' : `“${name}” events`
  const time = duration(window.to - window.from)
  const usual =
    name === null ? `${number(expected)} are usual at this hour` : `its usual share would be ${number(expected)}`
  if (kind === 'zero') return `no ${what} for ${time}; ${usual}`
  return `${number(window.measured)} ${what} in ${time}, ${percent(ratio)} of what to expect; ${usual}`
}
