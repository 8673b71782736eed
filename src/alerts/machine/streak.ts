import { withoutEnd } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { Subject } from './types.ts'

/** Flips among the last 20 results from which on an alert is said to be flapping. */
export const FLAPPING_FLIPS = 4
/** Results without a flip that end it. */
export const CALM_RESULTS = 10
/** Errors in a row that say the check itself is broken. */
export const FAILING_ERRORS = 3

/** What a probe's last results, this one included, say about a subject. */
export interface Streak {
  /** `silent`: this result says nothing about the subject. */
  verdict: 'bad' | 'good' | 'silent'
  badInRow: number
  goodInRow: number
  /** Changes between good and bad. */
  flips: number
  /** Results since the last of them, the one that flipped not counted; all there are when there was none. */
  sinceFlip: number
}

/**
 * Judges by the letters of results, oldest first (`oowceu`): what the probe watches passes over errors and results that judged
 * nothing (`u`), so that silence is no recovery; about the check itself only an error is bad. That one never flaps: it takes three errors to open, any other result to end.
 */
export function streakOf(subject: Subject, recent: string): Streak {
  return subject === 'target' ? targetStreak(recent) : checkStreak(recent)
}

function targetStreak(recent: string): Streak {
  const goods = [...recent].filter((letter) => letter !== 'e' && letter !== 'u').map((letter) => letter === 'o')
  const last = goods.at(-1)
  const lastOther = goods.lastIndexOf(last !== true)
  const inRow = goods.length - 1 - lastOther
  const flips = goods.filter((isGood, index) => index > 0 && isGood !== goods[index - 1]).length
  const isSilent = /[eu]$/.test(recent) || last === undefined
  return {
    verdict: isSilent ? 'silent' : last ? 'good' : 'bad',
    badInRow: last === false ? inRow : 0,
    goodInRow: last === true ? inRow : 0,
    flips,
    sinceFlip: flips === 0 ? goods.length : inRow - 1,
  }
}

function checkStreak(recent: string): Streak {
  const errors = recent.length - withoutEnd(recent, 'e').length
  const isBad = errors >= FAILING_ERRORS
  return {
    verdict: isBad ? 'bad' : errors > 0 ? 'silent' : 'good',
    badInRow: isBad ? errors : 0,
    goodInRow: errors === 0 ? 1 : 0,
    flips: 0,
    sinceFlip: recent.length,
  }
}

export const subjectOf = ({ subject }: Pick<AlertRow, 'subject'>): Subject => (subject === 'check' ? 'check' : 'target')
