import { createHash } from 'node:crypto'
import type { Subject, SubjectFinding, UnjudgedReason } from '../detection/index.ts'
import { asError, newOrderedId, storable } from '../lib/index.ts'
import type { ProbeResultRow, ProbeRow, SiteRow } from '../store/index.ts'
import type { DeployMarker, ProbeOutcome, ResultStatus } from './probe-type.ts'
import type { Run } from './run-probe.ts'

const MESSAGE_MAX = 1_000
const DETAILS_MAX = 16_000
const MEMORY_MAX = 64_000
/** As many as flapping is judged by. */
const RECENT_STATUSES = 20

/** `seen`: it was judged. `unseen`: nothing of it came, or too little; of `unknown` ones it is not known whether anything did. */
type Sight = 'seen' | 'unseen' | 'unknown'

/** What a probe's last results said, before the first one and after a pause: no one looked meanwhile. */
export const NO_STREAK = { consecutive_failures: 0, recent_statuses: '', subject_statuses: '{}' } as const

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
  /** See `ProbeOutcome`: it says nothing about this check either. */
  isOurs: boolean
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
    isOurs: kept.isOurs === true,
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

/** The first letter of the status, `u` for a result that judged nothing, neither the target nor the check. */
const letterOf = (outcome: ProbeOutcome): string =>
  reasonOf(outcome) === null && outcome.isOurs !== true ? (outcome.status[0] ?? '') : 'u'

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
    const message = `The result of the check cannot be stored: ${asError(thrown).message}`
    return { status: 'error', message, details: { reason: 'bad_outcome' } }
  }
}

/** The subject of what is judged as a whole. */
export const WHOLE = 'target'
/** The subject of what is more than a probe keeps apart. */
export const OTHERS = 'others'
/** Subjects of one probe that have alerts of their own; a site has names enough for thousands. */
export const SUBJECTS_MAX = 100

/** As many as flapping is judged by. */
const RECENT = 20
/** PostgreSQL takes no more than 2,700 bytes into an index. */
const KEY_BYTES_MAX = 400
const LABEL_MAX = 200

/** What is bad about a subject, ready for its alert. */
export interface SubjectResult {
  /** Two results speak of the same subject by the same key. */
  key: string
  /** For people: `Meta CAPI · purchase`; null for the whole. */
  label: string | null
  status: 'warning' | 'critical'
  message: string
  startedAt: number | null
  /** Of a tag that is judged on each of its events: on which of them it is bad. */
  events: readonly string[]
  /** JSON. */
  details: string
}

/** By which a subject's alert is found again, and a silence names it: `tag:"Meta CAPI",event:"purchase"`. */
export function subjectKey({ tag_key, event_name, field }: Subject): string {
  const named = [
    ['tag', tag_key],
    ['event', event_name],
    ['field', field],
  ] as const
  const key = named.flatMap(([kind, name]) => (name === undefined ? [] : [`${kind}:${JSON.stringify(name)}`])).join(',')
  if (key === '') return WHOLE
  if (Buffer.byteLength(key) <= KEY_BYTES_MAX) return key
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

export function subjectLabel({ tag_key, event_name, field }: Subject): string | null {
  const label = [tag_key, event_name, field].filter((name) => name !== undefined).join(' · ')
  return label === '' ? null : label.slice(0, LABEL_MAX).toWellFormed()
}

/**
 * What the last results said of each subject, by its key: letters as in `recent_statuses`. Only subjects that were bad in one of
 * them are kept: of any other nothing was bad since the probe's first result.
 */
type Histories = ReadonlyMap<string, string>

/** @param text of `subject_statuses` */
const historiesIn = (text: string): Histories => new Map(Object.entries(JSON.parse(text) as Record<string, string>))

const historiesAsText = (histories: Histories): string => JSON.stringify(Object.fromEntries(histories))

/**
 * At most `SUBJECTS_MAX` subjects have findings of their own: those that had before, then the worst. All others are one more
 * subject, so that nothing bad is left out.
 */
function boundedFindings(findings: readonly SubjectFinding[], before: Histories): SubjectResult[] {
  const results = findings.map(resultOf)
  const known = results.filter(({ key }) => before.has(key))
  const places = SUBJECTS_MAX - [...before.keys()].filter((key) => key !== OTHERS).length
  const unknown = results.filter(({ key }) => !before.has(key))
  const fits = unknown.slice(0, Math.max(0, places))
  const rest = unknown.slice(fits.length)
  const [worst] = rest
  if (worst === undefined) return results
  const own = new Set([...known, ...fits])
  return [...results.filter((result) => own.has(result)), othersOf(worst, rest)]
}

const resultOf = ({ subject, status, message, startedAt, events = [], details }: SubjectFinding): SubjectResult => ({
  key: subjectKey(subject),
  label: subjectLabel(subject),
  status,
  message,
  startedAt,
  events,
  details: JSON.stringify(details),
})

function othersOf(worst: SubjectResult, rest: readonly SubjectResult[]): SubjectResult {
  const starts = rest.flatMap(({ startedAt }) => startedAt ?? [])
  return {
    ...worst,
    key: OTHERS,
    label: `${rest.length} more`,
    status: rest.some(({ status }) => status === 'critical') ? 'critical' : 'warning',
    message: rest.length === 1 ? worst.message : `${rest.length} more are bad, the worst: ${worst.message}`,
    startedAt: starts.length === 0 ? null : Math.min(...starts),
    events: [],
  }
}

/**
 * The histories after one more result.
 *
 * @param results null of a result that says nothing about any subject, which `letter` stands for
 * @param sightOf whether a subject that is not in `results` is fine, or was not judged
 * @param recent letters of the probe's earlier results, oldest first: before it was bad, a subject was fine in all of them
 */
function historiesAfter(
  before: Histories,
  results: readonly SubjectResult[] | null,
  sightOf: (key: string) => string,
  letter: string,
  recent: string,
): Histories {
  const fine = fineIn(recent)
  const after = new Map<string, string>()
  const add = (key: string, one: string) => after.set(key, `${before.get(key) ?? fine}${one}`.slice(-RECENT))
  for (const key of before.keys()) add(key, results === null ? letter : sightOf(key) === 'seen' ? 'o' : 'u')
  for (const { key, status } of results ?? []) add(key, status[0] ?? '')
  for (const [key, letters] of after) if (!/[wc]/.test(letters)) after.delete(key)
  return after
}

/** The letters of a subject that was never bad in these results of its probe. */
const fineIn = (recent: string): string => recent.replaceAll(/[^eu]/g, 'o')
