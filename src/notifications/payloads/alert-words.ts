import type { AlertMessage, AlertMessageKind, Severity } from '../message.ts'
import type { Tone } from './card.ts'
import { capitalised, cut, defanged, oneLine, sentence } from './text.ts'
import { type LocalTimes, lengthInWords } from './time.ts'

/** What is said in one line ends here: a title, a line of a list. */
export const LINE_MAX = 250
/** Two of them and a word of severity are a heading that every service takes whole. */
const NAME_MAX = 60

/** Never empty: services refuse empty texts. */
export const name = (text: string): string => cut(defanged(oneLine(text)), NAME_MAX) || '?'

/** `[CRITICAL]`, for one alert or for several whose worst severity this is. */
export function badge(kind: AlertMessageKind, severity: Severity): string {
  if (kind === 'resolved' || kind === 'flapping') return `[${kind.toUpperCase()}]`
  return `[${kind === 'reminder' ? 'STILL ' : ''}${severity.toUpperCase()}]`
}

/** `[CRITICAL] shop.acme.com — Tag failures`; the subject of an e-mail too. */
export const headingOf = (message: AlertMessage): string =>
  `${isGone(message) ? '[NO LONGER SEEN]' : badge(message.kind, message.alert.severity)} ${siteAndProbe(message)}`

/** Resolved because it was no longer seen, which is no sign that it works again. */
export const isGone = ({ kind, alert }: AlertMessage): boolean => kind === 'resolved' && alert.resolution === 'gone'

export const siteAndProbe = ({ site, probe }: AlertMessage): string => `${name(site.name)} — ${name(probe.name)}`

export const titleOf = ({ alert, probe }: AlertMessage): string =>
  cut(defanged(oneLine(alert.title)), LINE_MAX) || name(probe.name)

/** What is wrong, or how it ended. */
export function whatOf(message: AlertMessage): string {
  const { kind, alert } = message
  if (kind !== 'resolved') return titleOf(message)
  const lasted = lengthInWords((alert.resolved_at ?? alert.since) - alert.since)
  switch (alert.resolution) {
    case 'manual':
      return `Closed by ${alert.resolved_by === null ? 'hand' : name(alert.resolved_by)} after ${lasted}`
    case 'probe_removed':
      return `No longer watched: its probe was removed after ${lasted}`
    case 'gone':
      return `Nothing of it came for 24 h; it began ${lasted} ago`
    default:
      return `Fine again after ${lasted}`
  }
}

export function toneOf({ kind, alert }: AlertMessage): Tone {
  if (kind !== 'resolved') return alert.severity
  return alert.resolution === 'probe_removed' || alert.resolution === 'gone' ? 'neutral' : 'ok'
}

/** `09:42 CET (42 min)` */
export const sinceWhen = (times: LocalTimes, since: number, at: number): string =>
  `${times.moment(since, at)} (${lengthInWords(at - since)})`

/** `Opened 12 min after web container 41 → 42.` */
export const changeOf = ({ change }: AlertMessage): string | null =>
  change === null ? null : sentence(capitalised(cut(oneLine(change), 2 * LINE_MAX)))
