import { isoTime } from '../../lib/index.ts'
import { type JsonObject, type ProbeOutcome, RESULT_STATUSES, type ResultStatus } from '../probe-type.ts'
import { objectIn } from './memory.ts'

/** One thing that was looked at, and what it says. */
export interface Finding {
  /** What was looked at, e.g. `certificate`. */
  readonly check: string
  readonly status: ResultStatus
  /** One sentence for people, with the numbers that decided. */
  readonly message: string
}

const rank = ({ status }: Finding): number => RESULT_STATUSES.indexOf(status)

const isBad = ({ status }: Finding): boolean => status !== 'ok'

/** Findings that are not fine, the worst first. */
export const badFindings = (findings: readonly Finding[]): Finding[] =>
  findings.filter(isBad).toSorted((a, b) => rank(a) - rank(b))

/** The worst finding speaks for all of them. */
export function judged(findings: readonly Finding[], whenFine: string): Pick<ProbeOutcome, 'status' | 'message'> {
  const [worst, ...others] = badFindings(findings)
  if (worst === undefined) return { status: 'ok', message: whenFine }
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return { status: worst.status, message: `${worst.message}${more}` }
}

/** Since when a probe has its status: kept in its memory, told in its details. Times are epoch ms. */
export interface Standing {
  readonly status: ResultStatus
  readonly since: number
}

export function standingOf(memory: JsonObject, status: ResultStatus, now: number): Standing {
  const before = objectIn(memory.standing)
  return { status, since: before.status === status && typeof before.since === 'number' ? before.since : now }
}

export const standingInMemory = ({ status, since }: Standing): JsonObject => ({ status, since })

export const sinceText = ({ since }: Standing): string => isoTime(since)
