import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'

/** The grid of the counts: a minute, as in the rollups. */
export const SLOT = MINUTE
export const SLOTS_A_DAY = DAY / SLOT
export const SLOTS_AN_HOUR = HOUR / SLOT
/** The grid of the runs: five minutes, the probes' default interval. */
export const RUN_EVERY = 5

/** A Monday. Eight weeks follow, in which clocks change in Europe (29 March 2026) and America (8 March). */
export const START = Date.UTC(2026, 1, 23)
export const DAYS = 56
/** Five weeks are past for the detectors, three are replayed. */
export const PAST_DAYS = 35
export const SLOTS = DAYS * SLOTS_A_DAY
export const FIRST_JUDGED = PAST_DAYS * SLOTS_A_DAY

export const timeOf = (slot: number): number => START + slot * SLOT
