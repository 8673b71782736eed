import { isoTime } from '../../lib/index.ts'
import { type Json, type JsonObject, type ProbeOutcome, RESULT_STATUSES, type ResultStatus } from '../probe-type.ts'

/** One thing that was looked at, and what it says. */
export interface CheckFinding {
  /** What was looked at, e.g. `certificate`. */
  readonly check: string
  readonly status: ResultStatus
  /** One sentence for people, with the numbers that decided. */
  readonly message: string
}

const rank = ({ status }: CheckFinding): number => RESULT_STATUSES.indexOf(status)

const isBad = ({ status }: CheckFinding): boolean => status !== 'ok'

/** Findings that are not fine, the worst first. */
export const badFindings = (findings: readonly CheckFinding[]): CheckFinding[] =>
  findings.filter(isBad).toSorted((a, b) => rank(a) - rank(b))

/** The worst finding speaks for all of them. */
export function judged(findings: readonly CheckFinding[], whenFine: string): Pick<ProbeOutcome, 'status' | 'message'> {
  const [worst, ...others] = badFindings(findings)
  if (worst === undefined) return { status: 'ok', message: whenFine }
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return { status: worst.status, message: `${worst.message}${more}` }
}

/** Since when a probe has its status: kept in its memory as `standing`, and shown in its details. Times are epoch ms. */
interface StatusSince {
  readonly status: ResultStatus
  readonly since: number
}

export function statusSince(memory: JsonObject, status: ResultStatus, now: number): StatusSince {
  const before = objectIn(memory.standing)
  return { status, since: before.status === status && typeof before.since === 'number' ? before.since : now }
}

export const sinceInMemory = ({ status, since }: StatusSince): JsonObject => ({ status, since })

export const sinceText = ({ since }: StatusSince): string => isoTime(since)

export type { Json, JsonObject }

/** An object that a run left behind, `{}` for anything else: another version of the program may have written it. */
export const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
