import { duration, MINUTE, quoted } from '../../lib/index.ts'
import type { ProbeOutcome } from '../probe-type.ts'

/** What a call can say. */
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
  /** Of a call that did not come. */
  missed: 'warning' | 'critical'
  /** When calls began to be waited for: the address was made, or the probe ran again after a pause. */
  waitingSince: number
  /** The newest call; null before the first. */
  last: { at: number; status: PushStatus; message: string; since: number } | null
  /** When this service took no calls, oldest first. */
  outages: readonly Range[]
}

export interface Deadline {
  /** When the next call is due. */
  due: number
  /** When it is missed. */
  end: number
  /** A call that was due while this service took none was left out. */
  isPutOff: boolean
}

/**
 * When the call after `from` is missed. It is due a period later, and may come as much too early as too late: the one before may have been late. Where
 * this service was down in that time, the call may have come and been refused: then the next one counts. A short stop at another time moves nothing,
 * or a service that restarts once a day would never miss a daily job.
 */
export function deadlineAfter(from: number, period: number, grace: number, outages: readonly Range[]): Deadline {
  let due = from + period
  let isPutOff = false
  for (const outage of outages) {
    if (outage.from > due + grace) break
    // What was before the last call refused none after it.
    if (outage.to <= Math.max(from, due - grace)) continue
    // On to the first that was due after it: with a period of a minute a night's outage holds hundreds.
    due += period * Math.max(1, Math.ceil((outage.to + grace - due) / period))
    isPutOff = true
  }
  return { due, end: due + grace, isPutOff }
}

export type PushVerdict = Pick<ProbeOutcome, 'status' | 'reason' | 'message' | 'startedAt'> & Deadline

/** @param moment a time in words */
export function judgePush(facts: PushFacts, moment: (time: number) => string): PushVerdict {
  const { now, period, grace, missed, waitingSince, last, outages } = facts
  const isFirst = last === null || last.at < waitingSince
  const deadline = deadlineAfter(isFirst ? waitingSince : last.at, period, grace, outages)
  const { due, end, isPutOff } = deadline
  if (now > end) {
    const status = last?.status === 'critical' ? 'critical' : missed
    const came = last === null ? 'No call has ever arrived' : `No call since ${moment(last.at)}`
    const message = `${came}: one was due by ${moment(due)}, and no later than ${moment(end)} with ${length(grace)} of grace`
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

/** What a call said before the silence is the best hint at its cause. */
const lastWords = (last: PushFacts['last']): string =>
  last === null || (last.status === 'ok' && last.message === '')
    ? ''
    : `. The last one said ${last.status}${last.message === '' ? '' : `: ${quoted(last.message)}`}`

const length = (time: number): string => duration(Math.max(MINUTE, time))

/** What a run leaves for the next. */
export interface PushMemory {
  ranAt: number | null
  waitingSince: number | null
}

/** A gap between two runs from which on nobody looked: the probe, its site or its client was paused, or no worker ran. Runs are late under load. */
const PAUSED_MS = 7 * MINUTE

/**
 * Since when calls are waited for, after one more run. After a pause everything begins again, as the job may have been paused as well, and a
 * whole period passes. Time in which the service was down as a whole is known better, by `outages`.
 */
export function waitingAfter(
  { ranAt, waitingSince }: PushMemory,
  madeAt: number,
  { now, interval, outages }: { now: number; interval: number; outages: readonly Range[] },
): number {
  const before = Math.max(madeAt, waitingSince ?? madeAt)
  if (ranAt === null) return before
  const down = outages.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - Math.max(from, ranAt)), 0)
  return now - ranAt - down > interval + PAUSED_MS ? now : before
}

export const isPushStatus = (text: unknown): text is PushStatus => PUSH_STATUSES.some((known) => known === text)
