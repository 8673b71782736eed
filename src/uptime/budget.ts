import { duration, HOUR, MINUTE, number, percent } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type SiteEvidence, timesOf } from './evidence.ts'
import { type SiteDay, totalTimes } from './read-days.ts'

/** Calendar days of the site's zone over which the budget is reckoned, today among them. */
export const BUDGET_DAYS = 30
const DAY_MS = 24 * HOUR
const BUDGET_MS = BUDGET_DAYS * DAY_MS

/** How much critical time a target allows, and how much of it there was. */
export interface Budget {
  /** Per cent. */
  target: number
  /** ms. */
  budget: number
  spent: number
  /** 0–1: what is left of it; 0 when more is spent than there was. */
  left: number
}

/** @param target per cent of the time that is to be without a critical problem */
export function budgetOf(target: number, days: readonly SiteDay[]): Budget {
  // 100 − 99.9 is a little more than 0.1 in binary.
  const budget = Math.round((BUDGET_MS * Math.round((100 - target) * 1_000)) / 100_000)
  const spent = totalTimes(days.slice(-BUDGET_DAYS)).critical
  return { target, budget, spent, left: Math.max(0, 1 - spent / budget) }
}

interface BurnRule {
  severity: 'warning' | 'critical'
  /** Both are to burn so fast: the long one says that it matters, the short one that it still does. ms. */
  long: number
  short: number
  /** How many times faster than the budget would last for its days. */
  factor: number
}

/**
 * Multi-window, multi-burn-rate alerts: The Site Reliability Workbook (Google, 2018), chapter 5, "Alerting on SLOs", table 5-8, whose rates are for
 * 30 days. The first spends 2 % of the budget in an hour, the second 5 % in 6 hours, the third 10 % in 3 days.
 */
export const BURN_RULES: readonly BurnRule[] = [
  { severity: 'critical', long: HOUR, short: 5 * MINUTE, factor: 14.4 },
  { severity: 'critical', long: 6 * HOUR, short: 30 * MINUTE, factor: 6 },
  { severity: 'warning', long: 3 * DAY_MS, short: 6 * HOUR, factor: 1 },
]

/** The longest time that any of them looks back, ms. */
export const BURN_REACH_MS = 3 * DAY_MS

/** A budget that is spent too fast. */
export interface Burn extends BurnRule {
  /** How many times too fast, over the long window. */
  rate: number
  /** Critical time in the long window, ms. */
  critical: number
}

/** The first rule that holds, the most severe first; null where the budget is not spent too fast. */
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

/** "41 % of 3 h 36 min left"; of what is left of it never 0 %. */
export const leftInWords = ({ budget, spent, left }: Budget): string =>
  spent >= budget
    ? `used up: ${duration(spent)} of ${duration(budget)}`
    : `${percent(left, (value) => number(Math.floor(value)))} of ${duration(budget)} left`

/** Null where no target is set. */
export const siteBudget = ({ slo_target }: Pick<SiteRow, 'slo_target'>, days: readonly SiteDay[]): Budget | null =>
  slo_target === null ? null : budgetOf(slo_target, days)
