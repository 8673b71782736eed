import type { UnjudgedReason, UsualCounts } from '../../detection/index.ts'
import { counted, DAY, floorTo, HOUR, number } from '../../lib/index.ts'
import { SLOT } from './timeline.ts'

/** Why nothing can be judged, and what was seen and when judging starts, in words. */
export interface Unjudged {
  reason: UnjudgedReason
  message: string
}

/** Nothing came that could be judged. */
export const noData = (message: string): Unjudged => ({ reason: 'no_data', message })

/**
 * Something came, but too little to judge.
 *
 * @param seen what was seen, and when judging starts
 */
export const learning = (seen: string): Unjudged => ({ reason: 'learning', message: `Learning: ${seen}` })

/**
 * Says how much is known while that is less than a day: `Learning: 5 of 24 hours, judging starts 29 Nov, 15:00`. Undefined once a day is known.
 *
 * @param knownFrom the first whole hour that is known, epoch ms; null in the hour of the first event
 */
export function learningHours(knownFrom: number | null, now: number, timezone: string): Unjudged | undefined {
  const since = knownFrom ?? floorTo(now, HOUR) + HOUR
  if (now >= since + DAY) return undefined
  const seen = Math.max(0, Math.floor((now - since) / HOUR))
  return learning(`${seen} of 24 hours, judging starts ${localMoment(since + DAY, timezone)}`)
}

/** For when the newest events have nothing to compare with, e.g. after this service was down at the same hour the day before. */
export const learningHour = ({ nextKnownHour }: UsualCounts, now: number, timezone: string): Unjudged =>
  learning(`this hour of the day is not known yet, judging starts ${localMoment(nextKnownHour(now) + SLOT, timezone)}`)

/** E.g. `2 of 7 days, judging starts 29 Nov`. */
export function daysSeen(seen: number, days: number, judgesFrom: number, timezone: string): string {
  return `${number(seen)} of ${counted(days, 'day')}, judging starts ${localDay(judgesFrom, timezone)}`
}

export const localDay = (time: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' }).format(time)

/** E.g. `20 Nov, 14:10`. */
export const localMoment = (time: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }).format(time)
