import { number } from '../lib/index.ts'

/** How a detector judges; that a check could not run at all is said by the probe around it. */
export type Status = 'ok' | 'warning' | 'critical'

/** Why a result could judge nothing: nothing was there to be judged, or too little yet to know what is usual. */
export const UNJUDGED_REASONS = ['no_data', 'learning'] as const
export type UnjudgedReason = (typeof UNJUDGED_REASONS)[number]

/** What a finding is about; empty for the site as a whole. */
export interface Subject {
  readonly event_name?: string
  readonly tag_key?: string
  readonly field?: string
}

/** What one subject was judged by. Leaves the program as it is, in a result's details: hence the spelling and ISO times. */
export interface Finding {
  readonly subject: Subject
  readonly status: Status
  /** One sentence for people: what was measured, and what is usual. */
  readonly message: string
  readonly measured: number | null
  readonly expected: number | null
  /** What would have passed; null where there is no such bound. */
  readonly band: { readonly low: number | null; readonly high: number | null }
  /** ISO time, null where it is not known. */
  readonly since: string | null
  readonly evidence: Readonly<Record<string, number | string | null>>
}

/** What is bad about one of the subjects that a run judges separately, in the form that its alert takes. */
export interface SubjectFinding {
  subject: Subject
  status: 'warning' | 'critical'
  /** One sentence for people, about this subject alone. */
  message: string
  /** Start of the first bad bucket, epoch ms; null where it is not known. */
  startedAt: number | null
  /** Of a tag that is judged on each of its events: on which of them it is bad. */
  events?: readonly string[]
  /** As those of the whole result, about this subject alone. */
  details: Readonly<Record<string, unknown>>
}

export interface Verdict {
  readonly status: Status
  readonly message: string
  readonly details: {
    /** The worst first. */
    readonly findings: readonly Finding[]
    /** How many events, tags or fields had data enough to be judged. */
    readonly judged: number
    /** How many had not. */
    readonly unjudged: number
  }
  /** What was judged and is fine. Of what is neither here nor among the findings too little came to be judged. */
  readonly fine: readonly Subject[]
  /** Tags that run on nothing at all any more, each with every event that it belongs to. */
  readonly idle?: ReadonlyMap<string, readonly string[]>
}

/** What is fine about the tags that were judged, whatever on: "1 tag runs well", "8 tags run well". */
export function tagsThat(judged: readonly (Finding | null)[], one: string, several: string): string {
  const { size } = new Set(judged.flatMap((finding) => finding?.subject.tag_key ?? []))
  return size === 1 ? `1 tag ${one}` : `${number(size)} tags ${several}`
}

const RANK: Readonly<Record<Status, number>> = { ok: 0, warning: 1, critical: 2 }

export const isBad = ({ status }: { readonly status: Status }): boolean => status !== 'ok'

/**
 * The worst of the findings speaks for all. Findings that are fine are left out, unless they are about the whole site.
 *
 * @param subjects a finding for each subject that could be judged, null for the others
 * @param whenFine the sentence for a site without anything bad
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
