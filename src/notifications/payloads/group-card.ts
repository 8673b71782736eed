import type { AlertMessage, MessageGroup, Severity } from '../message.ts'
import { badge, changeOf, LINE_MAX, name, sinceWhen, siteAndProbe, toneOf, whatOf } from './alert-words.ts'
import type { Card, CardOptions, Line } from './card.ts'
import { cut } from './text.ts'
import { LocalTimes } from './time.ts'

/** Several alerts of one client in one message, one line each. */
export function groupCard({ of: kind, client, messages }: MessageGroup, { publicUrl, at }: CardOptions): Card {
  const worstFirst = messages.toSorted(
    (a, b) => rank(a.alert.severity) - rank(b.alert.severity) || a.alert.since - b.alert.since,
  )
  const [worst] = worstFirst
  const isOver = kind === 'resolved'
  const since = Math.min(at, ...messages.map(({ alert }) => alert.since))
  // The client's sites may stand in several zones; the worst alert's is the one looked at first.
  const times = new LocalTimes(worst?.site.timezone ?? 'UTC')
  const count = `${messages.length} ${messages.length === 1 ? 'alert' : 'alerts'}`
  return {
    tone: isOver
      ? messages.every((message) => toneOf(message) === 'ok')
        ? 'ok'
        : 'neutral'
      : (worst?.alert.severity ?? 'neutral'),
    heading: `${badge(kind, worst?.alert.severity ?? 'warning')} ${name(client.name)} — ${count}`,
    what: isOver ? `Ended on ${sitesInWords(messages)}` : `${severitiesInWords(messages)} on ${sitesInWords(messages)}`,
    since: isOver ? null : ` since ${sinceWhen(times, since, at)}`,
    paragraphs: [],
    facts: isOver ? [] : [{ name: 'Since', value: sinceWhen(times, since, at) }],
    change: worstFirst.map(changeOf).find((change) => change !== null) ?? null,
    lines: worstFirst.map(lineOf),
    footer: null,
    link: linkOf(client.id, messages, publicUrl),
    thread: null,
  }
}

const rank = (severity: Severity): number => (severity === 'critical' ? 0 : 1)

const lineOf = (message: AlertMessage): Line => ({
  tone: toneOf(message),
  text: cut(`${siteAndProbe(message)}: ${whatOf(message)}`, LINE_MAX),
})

const sitesOf = (messages: readonly AlertMessage[]): string[] => [...new Set(messages.map(({ site }) => site.id))]

function sitesInWords(messages: readonly AlertMessage[]): string {
  const sites = sitesOf(messages)
  return sites.length === 1 ? name(messages[0]?.site.name ?? '') : `${sites.length} sites`
}

/** `5 critical and 2 warnings` */
function severitiesInWords(messages: readonly AlertMessage[]): string {
  const critical = messages.filter(({ alert }) => alert.severity === 'critical').length
  const warnings = messages.length - critical
  return [
    ...(critical > 0 ? [`${critical} critical`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
  ].join(' and ')
}

function linkOf(clientId: string, messages: readonly AlertMessage[], publicUrl: string): Card['link'] {
  const [site, another] = sitesOf(messages)
  if (site !== undefined && another === undefined) {
    return { label: 'Open the site', url: `${publicUrl}/sites/${encodeURIComponent(site)}` }
  }
  return { label: 'Open the alerts', url: `${publicUrl}/alerts?client_id=${encodeURIComponent(clientId)}` }
}
