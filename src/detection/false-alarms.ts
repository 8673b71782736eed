import { DAY } from '../lib/index.ts'

/** What false alarms are counted by. */
export const MONTH = 30 * DAY

/** Runs overlap, and a longer window holds the shorter: they are as many tests as so many windows of each length without overlaps, about. */
const TESTS_A_WINDOW = 3

/**
 * Natural logarithm of the chance below which a window's count is unusual: the budget over the tests of a month.
 *
 * @param budget false alarms a month
 * @param length of the window, ms
 */
export const logLimit = (budget: number, length: number): number => Math.log((budget * length) / MONTH / TESTS_A_WINDOW)

/** A chance and its limit, natural logarithms, as evidence in powers of ten: 6 means once in a million windows. */
export const surprise = (chance: number, limit: number) => ({
  surprise: -chance / Math.LN10,
  surprise_needed: -limit / Math.LN10,
})
