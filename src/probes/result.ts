import { createHash } from 'node:crypto'
import type { Subject, SubjectFinding, UnjudgedReason } from '../detection/index.ts'
import { asError, newOrderedId, storable } from '../lib/index.ts'
import type { ProbeResultRow, ProbeRow, SiteRow } from '../store/index.ts'
import type { DeployMarker, ProbeOutcome, ProbeType, ResultStatus } from './probe-type.ts'
import type { Run } from './run-probe.ts'

const MESSAGE_MAX = 1_000
const DETAILS_MAX = 16_000
const MEMORY_MAX = 64_000
/** Flapping looks at this many results. */
const RECENT_STATUSES = 20

/** `seen`: the subject was judged. `unseen`: none of it came, or too little. `unknown`: the run cannot say whether any came. */
type Sight = 'seen' | 'unseen' | 'unknown'

/** The state of a probe before its first result and after a pause, which ends every streak: no one looked meanwhile. */
export const NO_STREAK = { consecutive_failures: 0, recent_statuses: '', subject_statuses: '{}' } as const

/** The result of a run, ready to be written. */
export interface Finished {
  /** The row as it was claimed. */
  probe: ProbeRow
  site: SiteRow
  status: ResultStatus
  result: ProbeResultRow
  memory: string
  consecutiveFailures: number
  /** Letters of the last results (see `letterOf`), oldest first, including this one. */
  recentStatuses: string
  /** The bad subjects; null when the result says nothing about its target. */
  subjects: readonly SubjectResult[] | null
  /** Whether the type judges many subjects, each separately. */
  judgesSubjects: boolean
  /** Letters of a subject's last results, in the form of `recentStatuses`, by its key. */
  historyOf: (key: string) => string
  /** Whether the result says anything about the subject with this key. */
  sightOf: (key: string) => Sight
  /** The new value of `subject_statuses`. */
  subjectStatuses: string
  deployMarkers: readonly DeployMarker[]
  /** See `ProbeOutcome`: the result says nothing about this probe. */
  isOurs: boolean
  /** See `ProbeType`. */
  minIntervalSeconds: number
}

/** @param type undefined when this version does not know it, and where nothing follows the run */
export function finishedOf(
  probe: ProbeRow,
  site: SiteRow,
  { outcome, attempts, executedAt }: Run,
  type?: Pick<ProbeType, 'minIntervalSeconds'>,
): Finished {
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
    minIntervalSeconds: type?.minIntervalSeconds ?? 0,
  }
}

/** Returns what the outcome says about each subject; the target is the only subject of types that do not judge many. */
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
  // Built on first use: almost no result has a subject that was bad before.
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

/** Senders choose the names, so they may contain characters that the database refuses. */
const storableResult = (result: SubjectResult): SubjectResult => ({
  ...result,
  key: storable(result.key),
  label: result.label === null ? null : storable(result.label),
  message: storable(result.message).slice(0, MESSAGE_MAX),
})

/** Only an `ok` can be unjudged: a finding is a judgement, and an `error` already says that there is none. */
const reasonOf = ({ status, reason }: ProbeOutcome): UnjudgedReason | null =>
  status === 'ok' ? (reason ?? null) : null

/** The first letter of the status, or `u` for a result that judged neither the target nor the probe. */
const letterOf = (outcome: ProbeOutcome): string =>
  reasonOf(outcome) === null && outcome.isOurs !== true ? (outcome.status[0] ?? '') : 'u'

/** Warnings and criticals in a row. A result that says nothing about the target leaves the number unchanged. */
function failuresAfter(before: number, outcome: ProbeOutcome): number {
  if (outcome.status === 'error' || reasonOf(outcome) !== null) return before
  return outcome.status === 'ok' ? 0 : before + 1
}

/** Types may pass on what their target sent. What cannot be stored must not fail the whole batch, so it becomes an `error`. */
function keptOutcome(outcome: ProbeOutcome): ProbeOutcome {
  try {
    const length = JSON.stringify(outcome.details).length
    if (JSON.stringify(outcome.memory ?? null).length > MEMORY_MAX) throw new Error('it stores too much state')
    return length <= DETAILS_MAX ? outcome : { ...outcome, details: { reason: 'details_too_long', length } }
  } catch (thrown) {
    const message = `The result of the check cannot be stored: ${asError(thrown).message}`
    return { status: 'error', message, details: { reason: 'bad_outcome' } }
  }
}

/** Key of the subject when the target is judged as a whole. */
export const WHOLE = 'target'
/** Key of the subject that sums up those above `SUBJECTS_MAX`. */
export const OTHERS = 'others'
/** Subjects of one probe with alerts of their own: a site may have thousands of names. */
export const SUBJECTS_MAX = 100

/** Flapping looks at this many results. */
const RECENT = 20
/** PostgreSQL indexes at most 2,700 bytes a row. */
const KEY_BYTES_MAX = 400
const LABEL_MAX = 200

/** A bad subject, ready for its alert. */
export interface SubjectResult {
  /** Identifies the subject across results. */
  key: string
  /** Name for people, e.g. `Meta CAPI · purchase`; null for the whole target. */
  label: string | null
  status: 'warning' | 'critical'
  message: string
  startedAt: number | null
  /** For a tag that is judged per event: the events on which it is bad. */
  events: readonly string[]
  /** JSON. */
  details: string
}

/** Returns the key that alerts and silences know a subject by: `tag:"Meta CAPI",event:"purchase"`. Long ones are hashed. */
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
 * Letters of each subject's last results by its key, as in `recent_statuses`. Only subjects that were bad in one of them are
 * kept; any other subject was fine in all of them.
 */
type Histories = ReadonlyMap<string, string>

/** @param text value of `subject_statuses` */
const historiesIn = (text: string): Histories => new Map(Object.entries(JSON.parse(text) as Record<string, string>))

const historiesAsText = (histories: Histories): string => JSON.stringify(Object.fromEntries(histories))

/**
 * Returns at most `SUBJECTS_MAX` subjects with findings of their own: first those with a history, then the worst. All others
 * become one more subject (`OTHERS`), so that nothing bad is left out.
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
 * Returns the histories with one more result.
 *
 * @param results null when the result says nothing about any subject; `letter` then counts for all of them
 * @param sightOf whether a subject that is not in `results` is fine or was not judged
 * @param recent letters of the probe's earlier results, oldest first; a subject without a history was fine in all of them
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

/** Letters of a subject that was fine in all of these results. */
const fineIn = (recent: string): string => recent.replaceAll(/[^eu]/g, 'o')
