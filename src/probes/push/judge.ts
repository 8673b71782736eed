import { localTime } from '../../detection/index.ts'
import { DAY, duration, MINUTE, quoted } from '../../lib/index.ts'
import type { ProbeOutcome } from '../probe-type.ts'

/** What a call can report. */
export const PUSH_STATUSES = ['ok', 'warning', 'critical'] as const
export type PushStatus = (typeof PUSH_STATUSES)[number]

interface Range {
  from: number
  to: number
}

/** Times are epoch ms, lengths ms. */
export interface PushFacts {
  now: number
  period: number
  grace: number
  /** Status of a missed call. */
  missed: 'warning' | 'critical'
  /** Since when calls are awaited: when the address was made, or when the probe ran again after a pause. */
  waitingSince: number
  /** When the job reported a start that no call has followed; null without one. */
  startedAt: number | null
  timezone: string
  /** The latest call; null before the first. */
  last: { at: number; status: PushStatus; message: string; since: number } | null
  /** When this service accepted no calls, oldest first. */
  outages: readonly Range[]
}

export interface Deadline {
  /** When the next call is due, epoch ms. */
  due: number
  /** When it counts as missed, epoch ms. */
  end: number
  /** A call that was due while this service was down was skipped. */
  isPutOff: boolean
}

/**
 * Returns when the call after `from` is missed. It is due one period later, and may come up to `grace` earlier, because the call before
 * may have been late. If this service was down around that time, the call may have been refused, so the next one counts instead. Outages
 * at other times move nothing: otherwise a service that restarts once a day would never miss a daily job.
 */
export function deadlineAfter(from: number, period: number, grace: number, outages: readonly Range[]): Deadline {
  let due = from + period
  let isPutOff = false
  for (const outage of outages) {
    if (outage.from > due + grace) break
    // An outage that ended before the last call cannot have refused a later one.
    if (outage.to <= Math.max(from, due - grace)) continue
    // Skips to the first call due after the outage in one step: a night's outage spans hundreds of one-minute periods.
    due += period * Math.ceil((outage.to + grace - due) / period)
    isPutOff = true
  }
  return { due, end: due + grace, isPutOff }
}

/**
 * Returns the time from a call to the next. Where clocks go back within a period of whole days, it is an hour longer: a job that goes by
 * local time comes that much later. Where they go forward, it stays as it is, for the jobs that go by UTC.
 */
export function localPeriod(from: number, period: number, timezone: string): number {
  if (period % DAY !== 0) return period
  const { offsetAt } = localTime(timezone)
  return period + Math.max(0, offsetAt(from) - offsetAt(from + period))
}

export type PushVerdict = Pick<ProbeOutcome, 'status' | 'reason' | 'message' | 'startedAt'> & Deadline

/** @param moment formats a time for people */
export function judgePush(facts: PushFacts, moment: (time: number) => string): PushVerdict {
  const { now, period, grace, missed, waitingSince, startedAt, timezone, last, outages } = facts
  const isFirst = last === null || last.at < waitingSince
  const from = isFirst ? waitingSince : last.at
  const deadline = deadlineAfter(from, localPeriod(from, period, timezone), grace, outages)
  const { due, end, isPutOff } = deadline
  if (now > end) {
    const status = last?.status === 'critical' ? 'critical' : missed
    const came = last === null ? 'No call has ever arrived' : `No call since ${moment(last.at)}`
    const start = startedAt === null ? '' : `, except a start ${moment(startedAt)}`
    const message = `${came}${start}: one was due by ${moment(due)}, and no later than ${moment(end)} with ${duration(grace)} of grace`
    return { status, message: message + lastWords(last), startedAt: due, ...deadline }
  }
  if (isFirst) {
    const message = `Waiting for ${last === null ? 'its first call' : `a call, the last came ${moment(last.at)}`}; missed from ${moment(end)} on`
    return { status: 'ok', reason: 'no_data', message, ...deadline }
  }
  const said = last.message === '' ? '' : `: ${quoted(last.message)}`
  if (last.status !== 'ok') {
    const message = `The job says that it is ${last.status}${said} (${moment(last.at)})`
    return { status: last.status, message, startedAt: last.since, ...deadline }
  }
  const refused = isPutOff ? '. A call may have come while this service was down' : ''
  const late = now > due ? `Late, due by ${moment(due)}, missed from ${moment(end)} on. ` : ''
  return { status: 'ok', message: `${late}The last call came ${moment(last.at)}${said}${refused}`, ...deadline }
}

/** What the last call said is the best hint at why the next is missing. */
const lastWords = (last: PushFacts['last']): string =>
  last === null || (last.status === 'ok' && last.message === '')
    ? ''
    : `. The last one said ${last.status}${last.message === '' ? '' : `: ${quoted(last.message)}`}`

/** What a run leaves for the next one. */
export interface PushMemory {
  ranAt: number | null
  /** The probe's interval then, ms. */
  interval: number | null
  waitingSince: number | null
}

/** A longer gap between two runs means a pause: of the probe, its site, its client, or all workers. Load alone delays runs by less. */
const PAUSED_MS = 7 * MINUTE

/**
 * Returns since when calls are awaited, after one more run. A pause starts the wait again with a whole period, because the
 * job may have been paused, too. Downtime of the whole service does not count as a pause; `outages` describe it better.
 */
export function waitingAfter(
  { ranAt, interval: intervalThen, waitingSince }: PushMemory,
  madeAt: number,
  { now, interval, outages }: { now: number; interval: number; outages: readonly Range[] },
): number {
  const before = Math.max(madeAt, waitingSince ?? madeAt)
  if (ranAt === null) return before
  const down = outages.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - Math.max(from, ranAt)), 0)
  // A run that was planned with a longer interval comes no later than that.
  const longest = Math.max(interval, intervalThen ?? 0)
  return now - ranAt - down > longest + PAUSED_MS ? now : before
}

export const isPushStatus = (text: unknown): text is PushStatus => PUSH_STATUSES.some((known) => known === text)
