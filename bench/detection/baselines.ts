import { median, robustSpread } from '../../src/detection/index.ts'
import { type Alarm, AlarmLog } from './alarms.ts'
import type { Fault } from './faults.ts'
import type { SiteHistory } from './history.ts'
import { type BaselineOutcome, isFalse, PROBES_OF } from './score.ts'
import { FIRST_JUDGED, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR } from './world.ts'

/** Rules that people write into a monitoring system within an hour. Each judges the site and each of its events. */
const BASELINES = ['|z| ≥ 3, same hour', 'EWMA', 'silent for 60 min', 'seasonal hybrid ESD'] as const
export type Baseline = (typeof BASELINES)[number]

export function baselineOutcomes(history: SiteHistory, isVisible: (fault: Fault) => boolean): BaselineOutcome[] {
  const ofVolume = history.faults.filter((fault) => PROBES_OF[fault.kind].includes('data_volume'))
  const visible = ofVolume.filter(isVisible)
  return BASELINES.map((rule) => {
    const alarms = alarmsOf(rule, history)
    return {
      rule,
      visible: visible.length,
      found: visible.filter((fault) => alarms.some(({ from }) => from >= fault.from && from <= fault.to)).length,
      falseAlarms: alarms.filter((alarm) => isFalse(alarm, history.faults)).length,
    }
  })
}

function alarmsOf(rule: Baseline, { total, events, site }: SiteHistory): Alarm[] {
  const log = new AlarmLog()
  const series: [string | null, Float64Array][] = [[null, total], ...events]
  const watched = series.map(([name, counts]) => ({ name, isOff: ruleOf(rule, counts) }))
  const first = Math.max(FIRST_JUDGED, site.bornOn * SLOTS_A_DAY + SLOTS_A_DAY)
  for (let slot = first; slot < SLOTS; slot += SLOTS_AN_HOUR) {
    const findings = watched
      .filter(({ isOff }) => isOff(slot))
      .map(({ name }) => ({
        subject: name === null ? {} : { event_name: name },
        status: 'warning' as const,
        message: rule,
        measured: null,
        expected: null,
        band: { low: null, high: null },
        since: null,
        evidence: {},
      }))
    const details = { findings, judged: watched.length, unjudged: 0 }
    log.add(rule, slot, { status: findings.length > 0 ? 'warning' : 'ok', message: rule, details, fine: [] })
  }
  return log.finish(SLOTS)
}

/** Whether a rule fires at the start of a slot that begins an hour. */
type Rule = (slot: number) => boolean

const WEEK = 7 * SLOTS_A_DAY
const WEEKS = 4
const Z = 3

function ruleOf(rule: Baseline, counts: Float64Array): Rule {
  const hours = hourSums(counts)
  const hourAt = (slot: number): number => hours[Math.floor(slot / SLOTS_AN_HOUR)] ?? 0
  if (rule === 'silent for 60 min')
    return (slot) => hourAt(slot - SLOTS_AN_HOUR) === 0 && hourAt(slot - SLOTS_A_DAY) > 0
  if (rule === 'EWMA') return ewma(hours)
  if (rule === 'seasonal hybrid ESD') return (slot) => isEsdOutlier(hours, Math.floor(slot / SLOTS_AN_HOUR))
  return (slot) => {
    const newest = slot - SLOTS_AN_HOUR
    const same = Array.from({ length: WEEKS }, (_, week) => hourAt(newest - (week + 1) * WEEK))
    const mean = same.reduce((sum, count) => sum + count, 0) / WEEKS
    const variance = same.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (WEEKS - 1)
    return Math.abs(hourAt(newest) - mean) >= Z * Math.max(1, Math.sqrt(variance))
  }
}

function hourSums(counts: Float64Array): Float64Array {
  const hours = new Float64Array(Math.floor(counts.length / SLOTS_AN_HOUR))
  for (const [slot, count] of counts.entries()) {
    const hour = Math.floor(slot / SLOTS_AN_HOUR)
    hours[hour] = (hours[hour] ?? 0) + count
  }
  return hours
}

const WEIGHT = 0.3

/** Control chart of the differences to the same hour a week before (Roberts 1959), with limits of three standard deviations. */
function ewma(hours: Float64Array): Rule {
  const week = 7 * 24
  const isOff = new Uint8Array(hours.length)
  let [level, variance] = [0, 0]
  for (let hour = week; hour < hours.length; hour++) {
    const difference = (hours[hour] ?? 0) - (hours[hour - week] ?? 0)
    level = WEIGHT * difference + (1 - WEIGHT) * level
    const limit = Z * Math.sqrt((variance * WEIGHT) / (2 - WEIGHT))
    isOff[hour] = hour > 3 * week && Math.abs(level) > Math.max(1, limit) ? 1 : 0
    variance += (difference ** 2 - variance) / Math.min(hour - week + 1, 2 * week)
  }
  return (slot) => isOff[Math.floor(slot / SLOTS_AN_HOUR) - 1] === 1
}

const ESD_HOURS = 14 * 24
/** Of so many values, at most this share are outliers … */
const ESD_SHARE = 0.02
/** … and each is this many robust deviations off: the generalised ESD's critical value for 336 values at 5 % (Rosner 1983). */
const ESD_LIMIT = 3.9

/** Two weeks without their median and the medians of their hours of the day; the newest hour is one of the greatest residuals (Hochenbaum, Vallis and Kejariwal 2017). */
function isEsdOutlier(hours: Float64Array, end: number): boolean {
  const recent = [...hours.subarray(end - ESD_HOURS, end)]
  const season = Array.from({ length: 24 }, (_, hour) => median(recent.filter((_count, at) => at % 24 === hour)))
  const residuals = recent.map((count, at) => count - (season[at % 24] ?? 0))
  const middle = median(residuals)
  const spread = Math.max(1, robustSpread(residuals, middle))
  const newest = Math.abs((residuals.at(-1) ?? 0) - middle)
  const larger = residuals.filter((value) => Math.abs(value - middle) > newest).length
  return newest > ESD_LIMIT * spread && larger < ESD_SHARE * ESD_HOURS
}
