import { binomialTail, logRatios, sum, wilson } from './statistics.ts'

/** How often a tag fires when it should fire once. More often is a loop, which counts show. */
export type Times = 2 | 3

/** Minutes in which an event came in a container, and how many of them had a multiple of two or of three. */
export interface Multiples {
  readonly minutes: number
  readonly twos: number
  readonly threes: number
}

/** Hours back from now to judge, and hours before them, which show whether the event always comes like this. */
export const REPEAT_HOURS = { now: 23, before: 24 } as const

const COLUMNS = { 2: 'twos', 3: 'threes' } as const
/** Events that come one by one have a multiple in at most this share of their minutes, however many come. */
const MULTIPLES_BY_CHANCE = { 2: 1 / 2, 3: 1 / 3 } as const
/** With fewer minutes, the day before does not show how an event comes. */
const LEAST_BEFORE = 20

/** How many of an event come at a time, and the natural logarithm of the chance of so many minutes that show it. */
export interface Repeat {
  readonly times: Times
  readonly chance: number
}

/**
 * Judges whether an event came two or three at a time in the newest hours but not the day before; returns whichever of the two chance explains less.
 *
 * A tag that fires twice sends both events within about a second, so almost every minute has an even number. Of independent events, *λ* per minute,
 * a share of (1 − e^(−λ))² / 2(1 − e^(−λ)) = (1 − e^(−λ)) / 2 of the minutes with any has an even number (Poisson): at most a half, on a quiet day
 * as in a campaign. For multiples of three it is at most a third. If the day before had more, as with an event that always comes in pairs, the upper
 * bound of its share is used instead.
 *
 * @param byHour newest first, `REPEAT_HOURS` in all
 * @returns null when nothing can be said
 */
export function repeatOf(byHour: readonly Multiples[], hours: number): Repeat | null {
  const now = together(byHour.slice(0, hours))
  const before = together(byHour.slice(REPEAT_HOURS.now, REPEAT_HOURS.now + REPEAT_HOURS.before))
  if (before.minutes < LEAST_BEFORE || now.minutes === 0) return null
  const [twice, thrice] = ([2, 3] as const).map((times) => {
    const column = COLUMNS[times]
    const share = Math.max(MULTIPLES_BY_CHANCE[times], wilson(before[column], before.minutes).high)
    // Two numbers are tested, so each chance counts twice (Bonferroni).
    const chance = Math.min(1, 2 * binomialTail(now[column], now.minutes, share))
    return { times, chance: Math.log(Math.max(Number.MIN_VALUE, chance)) }
  }) as [Repeat, Repeat]
  return twice.chance <= thrice.chance ? twice : thrice
}

/**
 * The sums of these hours.
 *
 * @param byHour see `repeatOf`
 */
export const together = (byHour: readonly Multiples[]): Multiples => ({
  minutes: sum(byHour.map(({ minutes }) => minutes)),
  twos: sum(byHour.map(({ twos }) => twos)),
  threes: sum(byHour.map(({ threes }) => threes)),
})

/** Share of minutes with a multiple while a tag repeats; some repeats fall on both sides of a full minute. */
const MULTIPLES_OF_REPEATS = 0.85
/** About three single events to one pair among them. */
const SINGLE_AGAIN = Math.log(16)

/**
 * Whether a newest part of the hours supports events that come one by one again (likelihood ratio).
 *
 * @param byHour see `repeatOf`
 */
export function comesSingly(byHour: readonly Multiples[], hours: number, times: Times): boolean {
  const [ofMultiple, ofOther] = logRatios(MULTIPLES_BY_CHANCE[times], MULTIPLES_OF_REPEATS)
  let support = 0
  return byHour.slice(0, hours).some((hour) => {
    const multiples = hour[COLUMNS[times]]
    support += (hour.minutes - multiples) * ofOther + multiples * ofMultiple
    return support > SINGLE_AGAIN
  })
}
