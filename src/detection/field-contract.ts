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

/** The one field of a history that is of one parameter. */
export const PARAMETER = 'parameter'

/** A parameter of the site's own, on the events of one name, or of batches. */
export interface OwnParameter {
  readonly name: string
  readonly history: PresenceHistory<typeof PARAMETER>
}

export interface FieldContractConfig extends Pick<QualityConfig, 'lost_share' | 'lost_min_rate'> {
  /** What the parameter has to be on, in percent of the events that name it; undefined: no more is asked than what is usual. */
  min_percent?: number | undefined
}

/** A rate that is surely below this share of what is required is critical. */
const CRITICAL_SHARE = 0.5

export const learnParameter = (
  weeks: PresenceWeeks<typeof PARAMETER>,
  config: Pick<FieldContractConfig, 'lost_share'>,
): PastFields<typeof PARAMETER> => learnPresence([PARAMETER], weeks, config)

/**
 * Whether each parameter that a site has named itself is there as often as it used to be on the same event, and as often as is
 * required. Of few events nothing is said: what is bad is surely so.
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
    `own parameters: ${number(judged)} ${judged === 1 ? 'is' : 'are'} there as often as ${config.min_percent === undefined ? 'usual' : 'required'}`,
  )
}

function judgeUsual({ name, history }: OwnParameter, now: number, rule: LostRule): Finding | null {
  const sentence = (seen: string, usual: string) => `“${name}” is present in ${seen}; usually ${usual}`
  const finding = judgeField(PARAMETER, history, now, rule, sentence)
  return finding === null ? null : { ...finding, subject: subjectOf(name, history) }
}

/** Judged by the newest events alone: what is required needs no days to be known. */
function judgeRequired({ name, history }: OwnParameter, now: number, required: number): Finding | null {
  const { event_name, recent, past } = history
  const together = past.events > 0 ? past.fields[PARAMETER].clumping : clumpingOf(recent)
  const assessed = assessNewest(PARAMETER, recent, now, together, ({ high }) => high < required)
  if (assessed === null) return null
  const { window, present, total, high } = assessed
  // Of a parameter that is always there the bound is 1 but for how numbers are rounded.
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

/** On its first day a parameter has no other hours. */
function clumpingOf(recent: OwnParameter['history']['recent']): number {
  const counts = countsOfField(PARAMETER, recent)
  const total = sum(counts.map((count) => count.total))
  const rate = total === 0 ? 0 : sum(counts.map(({ present }) => present)) / total
  return clumping(counts, () => rate)
}

const subjectOf = (name: string, { event_name }: OwnParameter['history']) =>
  event_name === null ? { field: name } : { event_name, field: name }

const RANKS = ['ok', 'warning', 'critical'] as const

/** One finding a parameter: what is lost says since when, so it speaks where both are as bad. */
function worse(usual: Finding | null, required: Finding | null): Finding | null {
  if (usual === null || required === null) return usual ?? required
  return RANKS.indexOf(required.status) > RANKS.indexOf(usual.status) ? required : usual
}
