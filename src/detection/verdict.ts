import { number } from '../lib/index.ts'

/** A detector's judgement. That a check could not run at all is reported by the probe around it. */
export type Status = 'ok' | 'warning' | 'critical'

/** Why a result judged nothing: no data came, or too little yet to know what is usual. */
export const UNJUDGED_REASONS = ['no_data', 'learning'] as const
export type UnjudgedReason = (typeof UNJUDGED_REASONS)[number]

/** What a finding is about; empty for the site as a whole. */
export interface Subject {
  readonly event_name?: string
  readonly tag_key?: string
  readonly field?: string
}

/** The judgement of one subject. It is stored in the details of results as it is: hence the spelling and the ISO times. */
export interface Finding {
  readonly subject: Subject
  readonly status: Status
  /** One sentence for people: what was measured and what is usual. */
  readonly message: string
  readonly measured: number | null
  readonly expected: number | null
  /** The counts or shares that would have passed; null when there is no such bound. */
  readonly band: { readonly low: number | null; readonly high: number | null }
  /** ISO time; null when unknown. */
  readonly since: string | null
  readonly evidence: Readonly<Record<string, number | string | null>>
}

/** A bad subject of a run that judges each subject separately, in the form that its alert needs. */
export interface SubjectFinding {
  subject: Subject
  status: 'warning' | 'critical'
  /** One sentence for people, about this subject alone. */
  message: string
  /** Start of the first bad bucket, epoch ms; null when unknown. */
  startedAt: number | null
  /** For a tag that is judged per event: the events on which it is bad. */
  events?: readonly string[]
  /** Like the details of the whole result, but only about this subject. */
  details: Readonly<Record<string, unknown>>
}

export interface Verdict {
  readonly status: Status
  readonly message: string
  readonly details: {
    /** Worst first. */
    readonly findings: readonly Finding[]
    /** How many events, tags or fields had enough data to be judged. */
    readonly judged: number
    /** How many had too little. */
    readonly unjudged: number
  }
  /** Subjects that were judged and are fine. Those neither here nor among the findings had too little data. */
  readonly fine: readonly Subject[]
  /** Tags that no longer run on any event, with all events that they belong to. */
  readonly idle?: ReadonlyMap<string, readonly string[]>
}

/** Says how many of the judged tags are fine: "1 tag runs well", "8 tags run well". */
export function tagsThat(judged: readonly (Finding | null)[], one: string, several: string): string {
  const { size } = new Set(judged.flatMap((finding) => finding?.subject.tag_key ?? []))
  return size === 1 ? `1 tag ${one}` : `${number(size)} tags ${several}`
}

const RANK: Readonly<Record<Status, number>> = { ok: 0, warning: 1, critical: 2 }

export const isBad = ({ status }: { readonly status: Status }): boolean => status !== 'ok'

/**
 * Makes a verdict of findings: the worst determines status and message. Findings that are fine are left out unless they are about the whole site.
 *
 * @param subjects a finding for each subject that could be judged, null for the others
 * @param whenFine the message when nothing is bad
 */
export function verdictOf(subjects: readonly (Finding | null)[], whenFine: string): Verdict {
  const judged = subjects.filter((finding) => finding !== null)
  const findings = judged
    .filter((finding) => isBad(finding) || Object.keys(finding.subject).length === 0)
    .toSorted((a, b) => RANK[b.status] - RANK[a.status])
  const bad = findings.filter(isBad)
  const [worst] = bad
  const others = bad.length > 1 ? ` (and ${bad.length - 1} more)` : ''
  return {
    status: worst?.status ?? 'ok',
    message: worst === undefined ? whenFine : `${worst.message}${others}`,
    details: { findings, judged: judged.length, unjudged: subjects.length - judged.length },
    fine: judged.filter((finding) => !isBad(finding)).map(({ subject }) => subject),
  }
}
