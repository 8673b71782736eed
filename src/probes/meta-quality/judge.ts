import { type Finding, type Status, type Verdict, verdictOf } from '../../detection/index.ts'
import { apart, namesInWords, number } from '../../lib/index.ts'
import type { EventQuality } from './answer.ts'

/** Limits for how often Meta receives events, best first. */
export const UPLOADS = ['real_time', 'hourly', 'daily'] as const
type Upload = (typeof UPLOADS)[number]

export interface QualityLimits {
  /** Empty: all events. */
  events: readonly string[]
  /** Of 10. */
  warning_match_quality: number
  critical_match_quality: number
  /** 0: not judged. */
  warning_coverage_percent: number
  critical_coverage_percent: number
  slowest_upload: Upload | 'any'
}

/** Meta's values, fastest first; any other value is not judged. */
const KNOWN_UPLOADS: readonly string[] = [...UPLOADS, 'weekly', 'monthly']

const UPLOAD_WORDS: Readonly<Record<string, string>> = {
  real_time: 'in real time',
  hourly: 'by the hour',
  daily: 'by the day',
}
const wordsOf = (upload: string): string => UPLOAD_WORDS[upload] ?? upload

export interface QualityVerdict extends Verdict {
  /** Figures that should be judged but that Meta does not give, by event. */
  missing: readonly { event_name: string; figures: readonly Figure[] }[]
  /** Events that should be judged but of which Meta says nothing. */
  unknown: readonly string[]
}

/** The judged figures, by their names in alerts and details. */
export type Figure = 'match_quality' | 'coverage' | 'upload_frequency'

/**
 * Judges each event by each figure that Meta gives for it.
 *
 * Coverage is judged only for events with a match quality, which the server sends: events that only the browser sends are
 * meant to have no coverage.
 */
export function judgeQuality(all: readonly EventQuality[], limits: QualityLimits): QualityVerdict {
  const wanted = limits.events.map((name) => name.toLowerCase())
  const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name.toLowerCase()))
  const judged = chosen.map((event) => ({ event, figures: figuresOf(event, limits) }))
  const missing = judged.filter(isSpoken).flatMap(({ event, figures }) => {
    const none = figures.flatMap(({ figure, finding }) => (finding === null ? [figure] : []))
    return none.length === 0 ? [] : [{ event_name: event.name, figures: none }]
  })
  const absent = limits.events.filter((name) => !all.some((event) => event.name.toLowerCase() === name.toLowerCase()))
  const silent = judged.filter((one) => !isSpoken(one)).map(({ event }) => event.name)
  const unknown = [...absent, ...silent]
  const findings = judged.flatMap(({ figures }) => figures.map(({ finding }) => finding))
  const verdict = verdictOf(findings, fineText(chosen, limits))
  return { ...verdict, message: `${verdict.message}${notJudged(missing, unknown)}`, missing, unknown }
}

/** Whether Meta gives any figure of the event that can be judged. */
const isSpoken = ({ figures }: { figures: readonly Judged[] }): boolean =>
  figures.some(({ finding }) => finding !== null)

interface Judged {
  figure: Figure
  finding: Finding | null
}

function figuresOf(event: EventQuality, limits: QualityLimits): Judged[] {
  const isSent = event.matchQuality !== null
  return [
    { figure: 'match_quality', finding: judgeMatch(event, limits) },
    ...(limits.warning_coverage_percent > 0 && isSent
      ? [{ figure: 'coverage' as const, finding: judgeCoverage(event, limits) }]
      : []),
    ...(limits.slowest_upload === 'any'
      ? []
      : [{ figure: 'upload_frequency' as const, finding: judgeUpload(event, limits.slowest_upload) }]),
  ]
}

const plain = (value: number, write: (value: number) => string): string => write(value)

function judgeMatch({ name, matchQuality }: EventQuality, limits: QualityLimits): Finding | null {
  if (matchQuality === null) return null
  const { warning_match_quality: warning, critical_match_quality: critical } = limits
  const status = statusBelow(matchQuality, warning, critical)
  const low = status === 'critical' ? critical : warning
  const [shown, least] = apart(matchQuality, low, plain)
  const message = `Event match quality of “${name}” is ${shown} of 10, below ${least}: Meta recognises too few of the people behind it`
  return { ...findingAbout(name, 'match_quality', status, message), measured: matchQuality, band: { low, high: null } }
}

function judgeCoverage(event: EventQuality, limits: QualityLimits): Finding | null {
  const { name, coveragePercent: percent, coverageGoalPercent: goal } = event
  if (percent === null) return null
  const { warning_coverage_percent: warning, critical_coverage_percent: critical } = limits
  const status = statusBelow(percent, warning, critical)
  const low = status === 'critical' ? critical : warning
  const aim = goal === null ? '' : ` (Meta wants ${number(goal)} %)`
  const [shown, least] = apart(percent, low, plain)
  const message = `The server covers ${shown} % of the browser's “${name}” events, below ${least} %${aim}`
  return {
    ...findingAbout(name, 'coverage', status, message),
    measured: percent,
    band: { low, high: null },
    evidence: { goal_percent: goal },
  }
}

function judgeUpload({ name, upload }: EventQuality, slowest: Upload): Finding | null {
  if (upload === null || !KNOWN_UPLOADS.includes(upload)) return null
  const isSlow = KNOWN_UPLOADS.indexOf(upload) > KNOWN_UPLOADS.indexOf(slowest)
  const message = `Meta receives “${name}” ${wordsOf(upload)}, not ${wordsOf(slowest)}: ads learn from it too late`
  const finding = findingAbout(name, 'upload_frequency', isSlow ? 'warning' : 'ok', message)
  return { ...finding, evidence: { upload_frequency: upload, slowest_upload: slowest } }
}

const statusBelow = (value: number, warning: number, critical: number): Status =>
  value < critical ? 'critical' : value < warning ? 'warning' : 'ok'

const findingAbout = (event_name: string, field: Figure, status: Status, message: string): Finding => ({
  subject: { event_name, field },
  status,
  message,
  measured: null,
  expected: null,
  band: { low: null, high: null },
  since: null,
  evidence: {},
})

function fineText(events: readonly EventQuality[], { warning_match_quality: warning }: QualityLimits): string {
  const scored = events.flatMap(({ name, matchQuality }) => (matchQuality === null ? [] : [{ name, matchQuality }]))
  const [lowest] = scored.toSorted((a, b) => a.matchQuality - b.matchQuality)
  if (lowest === undefined) return 'Meta receives these events often enough'
  const { name, matchQuality } = lowest
  return scored.length === 1
    ? `Event match quality of “${name}” is ${number(matchQuality)} of 10, ${number(warning)} is enough`
    : `Event match quality of ${scored.length} events is ${number(warning)} of 10 or more, the lowest ${number(matchQuality)} of “${name}”`
}

const FIGURE_WORDS: Readonly<Record<Figure, string>> = {
  match_quality: 'match quality',
  coverage: 'coverage',
  upload_frequency: 'freshness',
}

function notJudged(missing: QualityVerdict['missing'], unknown: readonly string[]): string {
  const parts = (Object.keys(FIGURE_WORDS) as Figure[]).flatMap((figure) => {
    const names = missing.flatMap(({ event_name, figures }) => (figures.includes(figure) ? [event_name] : []))
    return names.length === 0 ? [] : [`no ${FIGURE_WORDS[figure]} of ${namesInWords(names, 2)}`]
  })
  if (unknown.length > 0) parts.push(`nothing of ${namesInWords(unknown, 2)}`)
  return parts.length === 0 ? '' : ` (not judged: Meta says ${parts.join(', ')})`
}
