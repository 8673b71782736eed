import { apart, duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import type { PastFields, PresenceWeeks } from './past-fields.ts'
import {
  assessNewest,
  judgeField,
  type LostRule,
  learnPresence,
  type PresenceHistory,
  type QualityConfig,
} from './quality.ts'
import { sum } from './statistics.ts'
import { BUDGET } from './unusual-share.ts'
import { clumping, countsOfField } from './usual-share.ts'
import { type Finding, type Verdict, verdictOf } from './verdict.ts'

/** The only field in the history of a parameter. */
export const PARAMETER = 'parameter'

/** One of the site's own parameters, on the events of one name or of batches. */
export interface OwnParameter {
  readonly name: string
  readonly history: PresenceHistory<typeof PARAMETER>
}

export interface FieldContractConfig extends Pick<QualityConfig, 'lost_share' | 'lost_min_rate'> {
  /** Required percentage of the events that name it; undefined: only the usual rate is required. */
  min_percent?: number | undefined
}

/** A rate that is certainly below this share of the required one is critical. */
const CRITICAL_SHARE = 0.5

export const learnParameter = (
  weeks: PresenceWeeks<typeof PARAMETER>,
  config: Pick<FieldContractConfig, 'lost_share'>,
): PastFields<typeof PARAMETER> => learnPresence([PARAMETER], weeks, config)

/**
 * Judges whether each parameter that a site named itself is present as often as it used to be on the same event, and as often
 * as required. Few events prove nothing: a bad rate is bad with certainty.
 */
export function fieldContract(
  { now, parameters }: { now: number; parameters: readonly OwnParameter[] },
  config: FieldContractConfig,
): Verdict {
  const rule = { ...config, budget: BUDGET / Math.max(1, parameters.length) }
  const findings = parameters.map((parameter) => {
    const broken = config.min_percent === undefined ? null : judgeRequired(parameter, now, config.min_percent / 100)
    return worse(judgeUsual(parameter, now, rule), broken)
  })
  const judged = findings.filter((finding) => finding !== null).length
  return verdictOf(
    findings,
    `custom parameters: ${number(judged)} ${judged === 1 ? 'is' : 'are'} present as often as ${config.min_percent === undefined ? 'usual' : 'required'}`,
  )
}

function judgeUsual({ name, history }: OwnParameter, now: number, rule: LostRule): Finding | null {
  const sentence = (seen: string, usual: string) => `“${name}” is present in ${seen}; usually ${usual}`
  const finding = judgeField(PARAMETER, history, now, rule, sentence)
  return finding === null ? null : { ...finding, subject: subjectOf(name, history) }
}

/** Judges by the newest events alone: a required rate needs no history. */
function judgeRequired({ name, history }: OwnParameter, now: number, required: number): Finding | null {
  const { event_name, recent, past } = history
  const together = past.events > 0 ? past.fields[PARAMETER].clumping : clumpingOf(recent)
  const assessed = assessNewest(PARAMETER, recent, now, together, ({ high }) => high < required)
  if (assessed === null) return null
  const { window, present, total, high } = assessed
  // For a parameter that is always present, the bound is 1 except for rounding errors.
  const isBroken = high < required && present / total < required
  const length = now - (window[0]?.from ?? now)
  const events = event_name === null ? 'events' : `“${event_name}” events`
  const [seen, least] = apart(present / total, required, percent)
  return {
    subject: subjectOf(name, history),
    status: !isBroken ? 'ok' : high < CRITICAL_SHARE * required ? 'critical' : 'warning',
    message: `“${name}” is present in ${seen} of ${number(total)} ${events} in ${duration(length)}; ${least} are required`,
    measured: present / total,
    expected: required,
    band: { low: required, high: null },
    since: null,
    evidence: {
      present,
      total,
      upper_bound: high,
      required,
      clumping: together,
      window_minutes: length / MINUTE,
      last_seen: isoTime(window.at(-1)?.to ?? now),
    },
  }
}

/** On its first day, a parameter has no history. */
function clumpingOf(recent: OwnParameter['history']['recent']): number {
  const counts = countsOfField(PARAMETER, recent)
  const total = sum(counts.map((count) => count.total))
  const rate = total === 0 ? 0 : sum(counts.map(({ present }) => present)) / total
  return clumping(counts, () => rate)
}

const subjectOf = (name: string, { event_name }: OwnParameter['history']) =>
  event_name === null ? { field: name } : { event_name, field: name }

const RANKS = ['ok', 'warning', 'critical'] as const

/** One finding per parameter. When both are equally bad, the loss is reported, because it says since when. */
function worse(usual: Finding | null, required: Finding | null): Finding | null {
  if (usual === null || required === null) return usual ?? required
  return RANKS.indexOf(required.status) > RANKS.indexOf(usual.status) ? required : usual
}
