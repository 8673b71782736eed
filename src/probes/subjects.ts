import { createHash } from 'node:crypto'
import type { Subject, SubjectFinding } from '../detection/index.ts'

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
export type Histories = ReadonlyMap<string, string>

/** @param text of `subject_statuses` */
export const historiesIn = (text: string): Histories =>
  new Map(Object.entries(JSON.parse(text) as Record<string, string>))

export const historiesAsText = (histories: Histories): string => JSON.stringify(Object.fromEntries(histories))

/**
 * At most `SUBJECTS_MAX` subjects have findings of their own: those that had before, then the worst. All others are one more
 * subject, so that nothing bad is left out.
 */
export function boundedFindings(findings: readonly SubjectFinding[], before: Histories): SubjectResult[] {
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
export function historiesAfter(
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
export const fineIn = (recent: string): string => recent.replaceAll(/[^eu]/g, 'o')
