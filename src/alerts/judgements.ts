import type { Finished, SubjectResult } from '../probes/index.ts'
import type { AlertRow } from '../store/index.ts'
import type { Violation } from './machine/types.ts'
import { type Streak, streakOf } from './machine/types.ts'

/** What a result says about one subject, and the alert that it may change. */
export interface Judgement {
  finished: Finished
  /** Of the subject, as alerts have it. */
  key: string
  /** Letters of the subject's last results, this one included. */
  history: string
  streak: Streak
  violation: Violation
  /** Since when it is bad, where the result says so. Epoch ms. */
  startedAt: number | null
  /** Of a tag that is judged on each of its events: on which of them it is bad. */
  events: readonly string[]
  alert: AlertRow | null
  /** Nothing of it came, or too little to judge it, though it was looked for. */
  isUnseen: boolean
}

/** What there is to decide: what is bad, and what has an alert. */
export function judgementsOf(written: readonly Finished[], alerts: readonly AlertRow[]): Judgement[] {
  const byProbe = Map.groupBy(alerts, ({ probe_id }) => probe_id)
  return written.flatMap((finished) => {
    const ofProbe = new Map((byProbe.get(finished.probe.id) ?? []).map((alert) => [alert.subject, alert]))
    return [...aboutSubjects(finished, ofProbe), ...aboutCheck(finished, ofProbe)]
  })
}

type AlertsBySubject = ReadonlyMap<string, AlertRow>

/** A subject that was judged and is not among what is bad is fine; of one that was not judged nothing is known. */
function aboutSubjects(finished: Finished, alerts: AlertsBySubject): Judgement[] {
  const { subjects, historyOf, sightOf } = finished
  if (subjects === null && ![...alerts.keys()].some((key) => sightOf(key) === 'unseen')) return []
  const base = (key: string) => {
    const history = historyOf(key)
    const known = streakOf('target', history)
    const sight = sightOf(key)
    const streak: Streak = sight === 'seen' ? known : { ...known, verdict: 'silent' }
    return { finished, key, history, streak, alert: alerts.get(key) ?? null, isUnseen: sight === 'unseen' }
  }
  const results = subjects ?? []
  const bad = new Set(results.map(({ key }) => key))
  const fine = [...alerts.values()].filter(({ subject }) => subject !== 'check' && !bad.has(subject))
  return [
    ...results.map((result) => ({
      ...base(result.key),
      violation: violationOf(result),
      startedAt: result.startedAt,
      events: result.events,
    })),
    ...fine.map((alert) => ({ ...base(alert.subject), violation: unchanged(alert), startedAt: null, events: [] })),
  ]
}

function aboutCheck(finished: Finished, alerts: AlertsBySubject): Judgement[] {
  const history = finished.recentStatuses
  const streak = streakOf('check', history)
  const alert = alerts.get('check') ?? null
  if (alert === null && streak.verdict !== 'bad') return []
  const violation = checkViolation(finished)
  return [{ finished, key: 'check', history, streak, violation, startedAt: null, events: [], alert, isUnseen: false }]
}

const unchanged = ({ severity, subject_label, title, message, details }: AlertRow): Violation => ({
  severity: severity === 'critical' ? 'critical' : 'warning',
  subject_label,
  title,
  message,
  details,
})

const TITLE_MAX = 160

/** What a bad result says of a subject. */
const violationOf = ({ status, label, message, details }: SubjectResult): Violation => ({
  severity: status,
  subject_label: label,
  title: shortened(message),
  message,
  details,
})

/** What errors say of the check itself. */
const checkViolation = ({ probe, result: { message, details } }: Finished): Violation => ({
  severity: 'warning',
  subject_label: null,
  title: shortened(`“${probe.name}” cannot check: ${message}`),
  message,
  details,
})

/** At most 160 characters, cut between words. */
function shortened(text: string): string {
  if (text.length <= TITLE_MAX) return text
  const cut = text.slice(0, TITLE_MAX - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > TITLE_MAX / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}
