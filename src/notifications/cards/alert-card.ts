import { MINUTE, quoted } from '../../lib/index.ts'
import {
  type AlertMessage,
  type AlertMessageKind,
  CHANNEL_ENDS,
  type Fact,
  type MessageGroup,
  type MessageIncident,
  type Named,
  type Severity,
} from '../message.ts'
import {
  type Card,
  type CardOptions,
  cut,
  defanged,
  fact,
  LINE_MAX,
  type Line,
  LocalTimes,
  lengthInWords,
  name,
  oneLine,
  printable,
  SHAPES,
  sentence,
  sinceTail,
  sinceWhen,
  type Tone,
} from './card.ts'
import { lossOf, lossTail } from './loss.ts'
import { newsOf } from './news.ts'

const PARAGRAPH_MAX = 5_000

export function alertCard(message: AlertMessage, { publicUrl, at }: CardOptions): Card {
  const { alert, site } = message
  const times = new LocalTimes(site.timezone)
  const isOver = message.kind === 'resolved'
  return {
    tone: toneOf(message),
    heading: headingOf(message),
    what: whatOf(message),
    // A site may have two alerts of one probe, so the title says which one ended.
    tail: `${isOver ? `. It was: ${titleOf(message)}` : sinceTail(sinceWhen(times, alert.since, at))}${lossTail(message.incident)}`,
    news: newsOf(message),
    paragraphs: [...explanations(message), ...meanwhileOver(message, times, at)].map((text) =>
      cut(defanged(printable(text)), PARAGRAPH_MAX),
    ),
    facts: isOver ? factsOfResolved(message, times, at) : factsOfOpen(message, times, at),
    change: changeOf(message),
    lines: [],
    footer: footerOf(message),
    link: linkTo(message, publicUrl),
    thread: alert.id,
    opened:
      message.kind === 'opened' || message.untold !== undefined
        ? null
        : `It opened at ${times.moment(alert.opened_at, at)}.`,
  }
}

/** Leads to the incident: to acknowledge one of its alerts stops no reminders, and that one may be resolved. Messages of earlier versions lack it. */
const linkTo = ({ alert, incident }: AlertMessage, publicUrl: string): Card['link'] =>
  incident === undefined
    ? { label: 'Open the alert', url: `${publicUrl}/alerts/${encodeURIComponent(alert.id)}` }
    : { label: 'Open the incident', url: `${publicUrl}/incidents/${encodeURIComponent(incident.id)}` }

/** Returns the last bad result when it says more than the title, and what is particular about this message. */
function explanations(message: AlertMessage): string[] {
  const { kind, alert, incident } = message
  // The title above may be the cause that was found.
  const isTitle = kind === 'explained' && incident?.note?.includes(quoted(alert.title)) === true
  const news = [isTitle ? null : incident?.note, incident?.elsewhere]
    .filter((text) => typeof text === 'string')
    .map(sentence)
  if (kind === 'resolved') {
    const untold = message.untold === undefined ? '' : ' It ended before a notification was due.'
    const was = `It was: ${sentence(titleOf(message))}${untold}`
    return isGone(message)
      ? [was, 'That does not mean that it works again: it was removed or renamed, or is no longer sent.']
      : [was]
  }
  const said = isSame(alert.message, alert.title) ? [] : [alert.message]
  return kind === 'opened' ? [...news, ...said] : [...news, noteOf(kind, alert.severity), ...said]
}

/** Ends listed in one message: the page of incidents has them all. */
const ENDS_MAX = 8

/** Returns what has ended since the last message, one line each. */
const meanwhileOver = ({ over = [] }: AlertMessage, times: LocalTimes, at: number): string[] =>
  over.length === 0
    ? []
    : [
        [
          'Resolved in the meantime:',
          ...over.slice(0, ENDS_MAX).map((one) => `${SHAPES[toneOf(one)]} ${endOf(one, times, at)}`),
          ...(over.length > ENDS_MAX ? [`and ${over.length - ENDS_MAX} more`] : []),
        ].join('\n'),
      ]

/** Returns `shop.acme.com — Volume: 52 % below normal. Fine again after 3 h, at 12:40 CET`. */
const endOf = (message: AlertMessage, times: LocalTimes, at: number): string =>
  cut(
    `${siteAndProbe(message)}: ${sentence(titleOf(message))} ${whatOf(message)}${message.alert.resolved_at === null ? '' : `, at ${times.moment(message.alert.resolved_at, at)}`}`,
    LINE_MAX,
  )

const NOTES = {
  explained: 'You were already notified of this incident. Only the cause is new.',
  escalated: 'It was a warning before.',
  widened: 'More events are bad than in the last message.',
  flapping: 'It keeps changing between good and bad. Notifications pause until 10 results in a row agree.',
  acknowledged: 'Someone is working on it: no more reminders.',
  unacknowledged: 'No one is working on it any more: reminders resume.',
  reminder: 'It is not acknowledged yet. Acknowledging it stops these reminders.',
} as const

const STEADY_OR_WORSE =
  'It keeps changing between good and bad. Notifications pause until 10 results in a row agree, or it becomes critical.'

const noteOf = (kind: keyof typeof NOTES, severity: AlertMessage['alert']['severity']): string =>
  kind === 'flapping' && severity === 'warning' ? STEADY_OR_WORSE : NOTES[kind]

const isSame = (a: string, b: string): boolean => oneLine(a).replace(/\.$/, '') === oneLine(b).replace(/\.$/, '')

const factsOfOpen = (message: AlertMessage, times: LocalTimes, at: number): Fact[] => {
  const { alert, client, facts, incident } = message
  return [
    { name: 'Since', value: sinceWhen(times, alert.since, at) },
    // Chats show ten facts, so the last ones may be left out.
    fact('Client', client.name),
    ...lossOf(incident),
    ...onCallOf(message),
    ...causeOf(message),
    // Within a minute counts as at once.
    ...(alert.opened_at - alert.since < MINUTE ? [] : [{ name: 'Detected', value: times.moment(alert.opened_at, at) }]),
    ...facts.map(({ name, value }) => fact(name, value)),
    ...alertsOf(incident),
  ]
}

/** The figures are those of the last bad result, so they are one fact, "Before": separately they would read as current. */
function factsOfResolved({ alert, client, facts, incident }: AlertMessage, times: LocalTimes, at: number): Fact[] {
  const end = alert.resolved_at ?? at
  const lasted = { name: 'Lasted', value: `${times.span(alert.since, end, at)} (${lengthInWords(end - alert.since)})` }
  const parts = [lasted, fact('Client', client.name), ...lossOf(incident), ...alertsOf(incident)]
  if (facts.length === 0) return parts
  return [...parts, fact('Before', facts.map(({ name, value }) => `${name} ${value}`).join(' · '))]
}

const onCallOf = ({ on_call }: AlertMessage): Fact[] => (on_call === undefined ? [] : [fact('On call', on_call)])

/** Returns the number of alerts, unless there is only one. */
const alertsOf = (incident: MessageIncident | undefined): Fact[] =>
  incident === undefined || incident.alerts < 2 ? [] : [{ name: 'Alerts', value: String(incident.alerts) }]

function footerOf({ alert, site }: AlertMessage): string {
  const results = `${alert.occurrences} bad ${alert.occurrences === 1 ? 'result' : 'results'}`
  return `${cut(oneLine(site.url), LINE_MAX)} · ${results}`
}

/** Makes the card of several alerts in one message, one line each. */
export function groupCard({ of: kind, client, messages }: MessageGroup, { publicUrl, at }: CardOptions): Card {
  const worstFirst = messages.toSorted(
    (a, b) => rank(a.alert.severity) - rank(b.alert.severity) || a.alert.since - b.alert.since,
  )
  const [worst] = worstFirst
  const isOver = kind === 'resolved'
  const since = Math.min(at, ...messages.map(({ alert }) => alert.since))
  // The sites may be in several time zones; people look at the worst alert first.
  const times = new LocalTimes(worst?.site.timezone ?? 'UTC')
  const count = `${messages.length} ${messages.length === 1 ? 'alert' : 'alerts'}`
  return {
    tone: isOver
      ? messages.every((message) => toneOf(message) === 'ok')
        ? 'ok'
        : 'neutral'
      : (worst?.alert.severity ?? 'neutral'),
    heading: `${badge(kind, worst?.alert.severity ?? 'warning')} ${client === null ? 'Several clients' : name(client.name)} — ${count}`,
    what: isOver ? `Ended on ${sitesInWords(messages)}` : `${severitiesInWords(messages)} on ${sitesInWords(messages)}`,
    tail: isOver ? null : sinceTail(sinceWhen(times, since, at)),
    paragraphs: [],
    // They are of one client, so the same person is on call for all.
    facts: isOver
      ? []
      : [{ name: 'Since', value: sinceWhen(times, since, at) }, ...(worst === undefined ? [] : onCallOf(worst))],
    change:
      worstFirst.map((message) => changeOf(message, siteAndProbe(message))).find((change) => change !== null) ?? null,
    lines: worstFirst.map((message) => lineOf(message, times, at)),
    footer: null,
    link: linkOf(client, messages, publicUrl),
    thread: null,
  }
}

const rank = (severity: Severity): number => (severity === 'critical' ? 0 : 1)

const lineOf = (message: AlertMessage, times: LocalTimes, at: number): Line => ({
  tone: toneOf(message),
  text:
    message.kind === 'resolved'
      ? endOf(message, times, at)
      : cut(`${siteAndProbe(message)}: ${whatOf(message)}`, LINE_MAX),
})

const sitesOf = (messages: readonly AlertMessage[]): string[] => [...new Set(messages.map(({ site }) => site.id))]

function sitesInWords(messages: readonly AlertMessage[]): string {
  const sites = sitesOf(messages)
  return sites.length === 1 ? name(messages[0]?.site.name ?? '') : `${sites.length} sites`
}

/** Returns `5 critical and 2 warnings`. */
function severitiesInWords(messages: readonly AlertMessage[]): string {
  const critical = messages.filter(({ alert }) => alert.severity === 'critical').length
  const warnings = messages.length - critical
  return [
    ...(critical > 0 ? [`${critical} critical`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
  ].join(' and ')
}

function linkOf(client: Named | null, messages: readonly AlertMessage[], publicUrl: string): Card['link'] {
  const [site, another] = sitesOf(messages)
  if (site !== undefined && another === undefined) {
    return { label: 'Open the site', url: `${publicUrl}/sites/${encodeURIComponent(site)}` }
  }
  const query = client === null ? '' : `?client=${encodeURIComponent(client.id)}`
  return { label: 'Open the incidents', url: `${publicUrl}/incidents${query}` }
}

/** Kinds whose badge does not show a severity. */
const PLAIN: readonly AlertMessageKind[] = ['resolved', 'flapping', 'acknowledged', 'unacknowledged']

/** Returns `[CRITICAL]`, for one alert or for several with this worst severity. */
function badge(kind: AlertMessageKind, severity: Severity): string {
  if (PLAIN.includes(kind)) return `[${kind.toUpperCase()}]`
  return `[${kind === 'reminder' ? 'STILL ' : ''}${severity.toUpperCase()}]`
}

/** Returns `[CRITICAL] shop.acme.com — Tag failures`, which is also the subject of an e-mail. */
const headingOf = (message: AlertMessage): string =>
  `${isGone(message) ? '[NO LONGER SEEN]' : badge(message.kind, message.alert.severity)} ${siteAndProbe(message)}`

/** Whether it is resolved because it was no longer seen, which does not mean that it works again. */
const isGone = ({ kind, alert }: AlertMessage): boolean => kind === 'resolved' && alert.resolution === 'gone'

const siteAndProbe = ({ site, probe }: AlertMessage): string => `${name(site.name)} — ${name(probe.name)}`

const titleOf = ({ alert, probe }: AlertMessage): string =>
  cut(defanged(oneLine(alert.title)), LINE_MAX) || name(probe.name)

/** Returns what is wrong, or how it ended. */
function whatOf(message: AlertMessage): string {
  const { kind, alert } = message
  if (kind !== 'resolved') return titleOf(message)
  const lasted = lengthInWords((alert.resolved_at ?? alert.since) - alert.since)
  switch (alert.resolution) {
    case 'manual':
      return `Closed by ${alert.resolved_by === null ? 'hand' : name(alert.resolved_by)} after ${lasted}`
    case 'probe_removed':
      return `No longer watched: its probe was removed after ${lasted}`
    case 'channel_deleted':
    case 'channel_off':
    case 'channel_rekeyed':
      return `Closed here after ${lasted}: ${CHANNEL_ENDS[alert.resolution]}. It may still be going on`
    case 'gone':
      return `Nothing of it arrived for 24 h; it began ${lasted} ago`
    default:
      return `Fine again after ${lasted}${alert.down_ms === undefined ? '' : `, with Tagwarden down for ${lengthInWords(alert.down_ms)}`}`
  }
}

/** Resolutions that do not mean that it works again. */
const NEUTRAL: readonly (string | null)[] = ['probe_removed', 'gone', ...Object.keys(CHANNEL_ENDS)]

function toneOf({ kind, alert }: AlertMessage): Tone {
  if (kind !== 'resolved') return alert.severity
  return NEUTRAL.includes(alert.resolution) ? 'neutral' : 'ok'
}

/**
 * Returns `It began 12 min after web container 41 → 42.`; null when the message names a likely cause, which is the same change or
 * something stronger, and for a version, which is itself the change.
 */
const changeOf = (message: AlertMessage, what = 'It'): string | null =>
  message.change === null || causeOf(message).length > 0 || message.probe.probe_type === 'tag_manager_version'
    ? null
    : sentence(`${what} began ${cut(defanged(oneLine(message.change)), 2 * LINE_MAX)}`)

/** Returns the best explanation, unless the message already has it in a sentence of its own. */
function causeOf({ incident, kind }: AlertMessage): Fact[] {
  const cause = incident?.likely_cause ?? null
  const isSaid = cause === null || cause === incident?.elsewhere || incident?.note?.includes(cause) === true
  return isSaid || kind === 'resolved' ? [] : [fact('Likely cause', cause)]
}
