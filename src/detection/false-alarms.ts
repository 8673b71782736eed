import { DAY } from '../lib/index.ts'

/** The period that budgets of false alarms refer to. */
export const MONTH = 30 * DAY

/**
 * Runs overlap, and longer windows contain shorter ones: together they are about as many tests as this many non-overlapping windows of each length.
 */
const TESTS_A_WINDOW = 3

/**
 * Natural logarithm of the chance below which a window's count is unusual: the budget divided by the number of tests in a month.
 *
 * @param budget false alarms a month
 * @param length of the window, ms
 */
export const logLimit = (budget: number, length: number): number => Math.log((budget * length) / MONTH / TESTS_A_WINDOW)

/** Evidence from a chance and its limit (natural logarithms), in powers of ten: 6 means once in a million windows. */
export const surprise = (chance: number, limit: number) => ({
  surprise: -chance / Math.LN10,
  surprise_needed: -limit / Math.LN10,
})
