import type { SiteState, Status } from '../../api/overview.ts'

/** From what needs a person first to what needs nobody; the server's order, with its words for people. */
export const STATUSES: readonly Status[] = ['critical', 'error', 'warning', 'ok', 'unknown']

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  critical: 'critical',
  // Our check could not run: nothing is said about the target.
  error: 'check failing',
  warning: 'warning',
  ok: 'ok',
  unknown: 'nothing judged yet',
}

/** Why there is no status yet, in words; undefined where there is one. */
export const unjudgedWords = ({ reason }: Pick<SiteState, 'reason'>): string | undefined =>
  reason === null ? undefined : { no_data: 'no data yet', learning: 'learning' }[reason]

/** The characters that stand for the marks where no picture can be, such as a tab's title. */
export const STATUS_SIGNS: Readonly<Record<Status, string>> = {
  critical: '■',
  error: '◆',
  warning: '▲',
  ok: '●',
  unknown: '○',
}

/** A negative number when `a` is worse than `b`. */
export const bySeverity = (a: Status, b: Status): number => STATUSES.indexOf(a) - STATUSES.indexOf(b)
