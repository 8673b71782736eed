import { binomialTail, logRatios, sum, wilson } from './statistics.ts'

/** How often a tag fires where it should once. More is a loop, which counts show. */
export type Times = 2 | 3

/** Minutes in which an event came in a container, and those of them in which its number was a multiple of two, or of three. */
export interface Multiples {
  readonly minutes: number
  readonly twos: number
  readonly threes: number
}

/** Hours back from now that are looked at, and the day before them, which says whether the event always comes so. */
export const REPEAT_HOURS = { now: 23, before: 24 } as const

const COLUMNS = { 2: 'twos', 3: 'threes' } as const
/** Of what comes one by one, at most this share of the minutes with any has a multiple, however many come. */
const MULTIPLES_BY_CHANCE = { 2: 1 / 2, 3: 1 / 3 } as const
/** Fewer minutes of the day before say nothing of how an event comes. */
const LEAST_BEFORE = 20

/** How many of an event come at a time, and the natural logarithm of the chance of as many minutes that say so. */
export interface Repeat {
  readonly times: Times
  readonly chance: number
}

/**
 * Whether an event came two or three at a time in the newest hours, which it did not the day before: as twice, or three times, whichever chance explains less.
 *
 * A tag that fires twice sends both within a second or so, so nearly every minute has an even number of them. Of events that come by themselves, *λ* to a minute, a share of
 * (1 − e^(−λ))² / 2(1 − e^(−λ)) = (1 − e^(−λ)) / 2 of the minutes with any has an even number (Poisson), and so at most a half, whether it is a quiet day or a campaign; of multiples of three
 * it is at most a third. Where the day before had more, as an event that always comes in pairs does, the upper bound of its share stands for that.
 *
 * @param byHour newest first, `REPEAT_HOURS` in all
 * @returns null where nothing can be said
 */
export function repeatOf(byHour: readonly Multiples[], hours: number): Repeat | null {
  const now = together(byHour.slice(0, hours))
  const before = together(byHour.slice(REPEAT_HOURS.now, REPEAT_HOURS.now + REPEAT_HOURS.before))
  if (before.minutes < LEAST_BEFORE || now.minutes === 0) return null
  const [twice, thrice] = ([2, 3] as const).map((times) => {
    const column = COLUMNS[times]
    const share = Math.max(MULTIPLES_BY_CHANCE[times], wilson(before[column], before.minutes).high)
    // Two are looked for, so that each is as unlikely twice (Bonferroni).
    const chance = Math.min(1, 2 * binomialTail(now[column], now.minutes, share))
    return { times, chance: Math.log(Math.max(Number.MIN_VALUE, chance)) }
  }) as [Repeat, Repeat]
  return twice.chance <= thrice.chance ? twice : thrice
}

/** Of these hours. @param byHour see `repeatOf` */
export const together = (byHour: readonly Multiples[]): Multiples => ({
  minutes: sum(byHour.map(({ minutes }) => minutes)),
  twos: sum(byHour.map(({ twos }) => twos)),
  threes: sum(byHour.map(({ threes }) => threes)),
})

/** Multiples of what repeats: some come before and after the full minute. */
const MULTIPLES_OF_REPEATS = 0.85
/** Three single ones to one pair among them, about. */
const SINGLE_AGAIN = Math.log(16)

/** Whether a newest part of the hours speaks for events that come one by one again (likelihood ratio). @param byHour see `repeatOf` */
export function comesSingly(byHour: readonly Multiples[], hours: number, times: Times): boolean {
  const [ofMultiple, ofOther] = logRatios(MULTIPLES_BY_CHANCE[times], MULTIPLES_OF_REPEATS)
  let support = 0
  return byHour.slice(0, hours).some((hour) => {
    const multiples = hour[COLUMNS[times]]
    support += (hour.minutes - multiples) * ofOther + multiples * ofMultiple
    return support > SINGLE_AGAIN
  })
}
