import { duration, HOUR, MINUTE, number, percent } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type SiteEvidence, timesOf } from './evidence.ts'
import { type SiteDay, totalTimes } from './read-days.ts'

/** Length of the error budget's window, in calendar days of the site's time zone, today included. */
export const BUDGET_DAYS = 30
const DAY_MS = 24 * HOUR
const BUDGET_MS = BUDGET_DAYS * DAY_MS

/** How much critical time a target allows, and how much of it is spent. */
export interface Budget {
  /** Percent. */
  target: number
  /** ms. */
  budget: number
  spent: number
  /** 0–1: the share that is left; 0 when the budget is overspent. */
  left: number
}

/** @param target percent of the time that should be free of critical problems */
export function budgetOf(target: number, days: readonly SiteDay[]): Budget {
  // Rounded, as 100 − 99.9 is a little more than 0.1 in binary.
  const budget = Math.round((BUDGET_MS * Math.round((100 - target) * 1_000)) / 100_000)
  const spent = totalTimes(days.slice(-BUDGET_DAYS)).critical
  return { target, budget, spent, left: Math.max(0, 1 - spent / budget) }
}

interface BurnRule {
  severity: 'warning' | 'critical'
  /**
   * The rule holds only if both windows burn at `factor`: the long one shows that it matters, the short one that it is still
   * going on. ms.
   */
  long: number
  short: number
  /** Burn rate: 1 spends the whole budget in exactly its window of days. */
  factor: number
}

/**
 * Multi-window, multi-burn-rate alerts: The Site Reliability Workbook (Google, 2018), chapter 5, "Alerting on SLOs", table 5-8,
 * whose rates are for 30 days. The first rule fires when 2 % of the budget is spent in an hour, the second at 5 % in 6 hours, the
 * third at 10 % in 3 days.
 */
const BURN_RULES: readonly BurnRule[] = [
  { severity: 'critical', long: HOUR, short: 5 * MINUTE, factor: 14.4 },
  { severity: 'critical', long: 6 * HOUR, short: 30 * MINUTE, factor: 6 },
  { severity: 'warning', long: 3 * DAY_MS, short: 6 * HOUR, factor: 1 },
]

/** The longest window of all rules, ms. */
export const BURN_REACH_MS = 3 * DAY_MS

/** The burn rule that holds, with what was measured. */
export interface Burn extends BurnRule {
  /** Burn rate over the long window. */
  rate: number
  /** Critical time in the long window, ms. */
  critical: number
}

/** The most severe rule that holds; null when the budget is not being spent too fast. */
export function burnOf({ target }: Pick<Budget, 'target'>, evidence: SiteEvidence, now: number): Burn | null {
  const allowed = (100 - target) / 100
  const criticalIn = (length: number) => timesOf({ from: now - length, to: now }, evidence, true).critical
  for (const rule of BURN_RULES) {
    const critical = criticalIn(rule.long)
    const rate = critical / rule.long / allowed
    const rateNow = criticalIn(rule.short) / rule.short / allowed
    if (rate >= rule.factor && rateNow >= rule.factor) return { ...rule, rate, critical }
  }
  return null
}

/** "41 % of 3 h 36 min left". Rounded down; a spent budget is "used up", never "0 % left". */
export const leftInWords = ({ budget, spent, left }: Budget): string =>
  spent >= budget
    ? `used up: ${duration(spent)} of ${duration(budget)}`
    : `${percent(left, (value) => number(Math.floor(value)))} of ${duration(budget)} left`

/** Null for a site without a target. */
export const siteBudget = ({ slo_target }: Pick<SiteRow, 'slo_target'>, days: readonly SiteDay[]): Budget | null =>
  slo_target === null ? null : budgetOf(slo_target, days)
