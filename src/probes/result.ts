import type { UnjudgedReason } from '../detection/index.ts'
import { asError, newOrderedId, storable } from '../lib/index.ts'
import type { ProbeResultRow, ProbeRow, SiteRow } from '../store/index.ts'
import type { DeployMarker, ProbeOutcome, ResultStatus } from './probe-type.ts'
import type { Run } from './run-probe.ts'
import {
  boundedFindings,
  fineIn,
  type Histories,
  historiesAfter,
  historiesAsText,
  historiesIn,
  OTHERS,
  type SubjectResult,
  subjectKey,
  WHOLE,
} from './subjects.ts'

const MESSAGE_MAX = 1_000
const DETAILS_MAX = 16_000
const MEMORY_MAX = 64_000
/** As many as flapping is judged by. */
const RECENT_STATUSES = 20

/** `seen`: it was judged. `unseen`: nothing of it came, or too little; of `unknown` ones it is not known whether anything did. */
export type Sight = 'seen' | 'unseen' | 'unknown'

/** What a run came to, ready to be written. */
export interface Finished {
  /** As it was claimed. */
  probe: ProbeRow
  site: SiteRow
  status: ResultStatus
  result: ProbeResultRow
  memory: string
  consecutiveFailures: number
  /** Letters of the last results, oldest first, this one included: see `letterOf`. */
  recentStatuses: string
  /** What is bad, each subject separately; null when the result says nothing about its target. */
  subjects: readonly SubjectResult[] | null
  /** Whether the type judges many subjects, each separately. */
  judgesSubjects: boolean
  /** The letters of a subject's last results, as `recentStatuses`, by its key. */
  historyOf: (key: string) => string
  /** Whether it says anything about a subject, by its key. */
  sightOf: (key: string) => Sight
  /** For `subject_statuses`. */
  subjectStatuses: string
  deployMarkers: readonly DeployMarker[]
}

export function finishedOf(probe: ProbeRow, site: SiteRow, { outcome, attempts, executedAt }: Run): Finished {
  const kept = keptOutcome(outcome)
  const message = storable(kept.message).slice(0, MESSAGE_MAX)
  const recentStatuses = (probe.recent_statuses + letterOf(kept)).slice(-RECENT_STATUSES)
  return {
    probe,
    site,
    status: kept.status,
    ...subjectsOf(probe, { ...kept, message }, recentStatuses),
    result: {
      probe_id: probe.id,
      id: newOrderedId(executedAt),
      status: kept.status,
      reason: reasonOf(kept),
      message,
      response_time_ms: kept.responseTimeMs === undefined ? null : Math.round(kept.responseTimeMs),
      details: JSON.stringify(kept.details),
      attempts,
      executed_at: executedAt,
      maintenance_id: null,
    },
    recentStatuses,
    memory: kept.memory === undefined ? probe.memory : JSON.stringify(kept.memory),
    consecutiveFailures: failuresAfter(probe.consecutive_failures, kept),
    deployMarkers: kept.deployMarkers ?? [],
  }
}

/** What the outcome says of each subject: of those it judges separately, or else of its target as the only one. */
function subjectsOf(
  probe: ProbeRow,
  outcome: ProbeOutcome,
  recent: string,
): Pick<Finished, 'subjects' | 'judgesSubjects' | 'historyOf' | 'sightOf' | 'subjectStatuses'> {
  const letter = recent.at(-1) ?? ''
  const isJudged = letter !== 'e' && letter !== 'u'
  if (isJudged && outcome.findings === undefined) {
    return {
      subjects: wholeOf(outcome),
      judgesSubjects: false,
      historyOf: (key) => (key === WHOLE ? recent : fineIn(recent)),
      sightOf: () => 'seen',
      subjectStatuses: '{}',
    }
  }
  const before = historiesIn(probe.subject_statuses)
  const subjects = isJudged ? boundedFindings(outcome.findings ?? [], before).map(storableResult) : null
  const sightOf = sightIn(outcome, subjects)
  const histories: Histories = historiesAfter(before, subjects, sightOf, letter, recent.slice(0, -1))
  return {
    subjects,
    judgesSubjects: outcome.findings !== undefined,
    historyOf: (key) => histories.get(key) ?? fineIn(recent),
    sightOf,
    subjectStatuses: historiesAsText(histories),
  }
}

function sightIn({ fine, isRefused }: ProbeOutcome, subjects: readonly SubjectResult[] | null): Finished['sightOf'] {
  if (fine === undefined) return () => (subjects === null ? 'unknown' : 'seen')
  // Made only where it is asked for: nearly no result has a subject that was bad before.
  let seen: Set<string> | undefined
  return (key) => {
    seen ??= new Set([OTHERS, ...(subjects ?? []).map((one) => one.key), ...fine.map(subjectKey).map(storable)])
    return seen.has(key) ? 'seen' : isRefused === true ? 'unknown' : 'unseen'
  }
}

function wholeOf({ status, message, startedAt, details }: ProbeOutcome): SubjectResult[] {
  if (status !== 'warning' && status !== 'critical') return []
  const since = startedAt ?? null
  return [{ key: WHOLE, label: null, status, message, startedAt: since, events: [], details: JSON.stringify(details) }]
}

/** A sender's names stand in them. */
const storableResult = (result: SubjectResult): SubjectResult => ({
  ...result,
  key: storable(result.key),
  label: result.label === null ? null : storable(result.label),
  message: storable(result.message).slice(0, MESSAGE_MAX),
})

/** Only an ok can have judged nothing: a finding is a judgement, and an error itself says that there is none. */
const reasonOf = ({ status, reason }: ProbeOutcome): UnjudgedReason | null =>
  status === 'ok' ? (reason ?? null) : null

/** The first letter of the status, `u` for a result that judged nothing. */
const letterOf = (outcome: ProbeOutcome): string => (reasonOf(outcome) === null ? (outcome.status[0] ?? '') : 'u')

/** Warnings and criticals in a row; a result that says nothing about the target changes nothing. */
function failuresAfter(before: number, outcome: ProbeOutcome): number {
  if (outcome.status === 'error' || reasonOf(outcome) !== null) return before
  return outcome.status === 'ok' ? 0 : before + 1
}

/** A type may hand on what its target said: what cannot be kept must not fail the whole batch. */
function keptOutcome(outcome: ProbeOutcome): ProbeOutcome {
  try {
    const length = JSON.stringify(outcome.details).length
    if (JSON.stringify(outcome.memory ?? null).length > MEMORY_MAX) throw new Error('it remembers too much')
    return length <= DETAILS_MAX ? outcome : { ...outcome, details: { reason: 'details_too_long', length } }
  } catch (thrown) {
    const message = `The outcome of the check cannot be kept: ${asError(thrown).message}`
    return { status: 'error', message, details: { reason: 'bad_outcome' } }
  }
}
