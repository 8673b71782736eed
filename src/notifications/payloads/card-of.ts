import { MINUTE } from '../../lib/index.ts'
import type { AlertMessage, Fact, Message, MessageGroup, OwnFailureMessage, TestMessage } from '../message.ts'
import { changeOf, headingOf, isGone, LINE_MAX, name, sinceWhen, titleOf, toneOf, whatOf } from './alert-words.ts'
import type { Card, CardOptions } from './card.ts'
import { digestCard } from './digest-card.ts'
import { groupCard } from './group-card.ts'
import { quotaCard } from './quota-card.ts'
import { capitalised, cut, oneLine, printable, sentence } from './text.ts'
import { LocalTimes, lengthInWords } from './time.ts'

const PARAGRAPH_MAX = 5_000

export function cardOf(message: Message | MessageGroup, options: CardOptions): Card {
  switch (message.kind) {
    case 'group':
      return groupCard(message, options)
    case 'test':
      return testCard(message, options)
    case 'digest':
      return digestCard(message, options)
    case 'quota':
      return quotaCard(message, options)
    case 'own_failure':
    case 'own_recovery':
      return ownCard(message, options)
    default:
      return alertCard(message, options)
  }
}

function alertCard(message: AlertMessage, { publicUrl, at }: CardOptions): Card {
  const { alert, client, site } = message
  const times = new LocalTimes(site.timezone)
  const isOver = message.kind === 'resolved'
  return {
    tone: toneOf(message),
    heading: headingOf(message),
    what: whatOf(message),
    since: isOver ? null : ` since ${sinceWhen(times, alert.since, at)}`,
    paragraphs: explanations(message).map((text) => cut(printable(text), PARAGRAPH_MAX)),
    facts: [
      ...(isOver ? factsOfResolved(message, times, at) : factsOfOpen(message, times, at)),
      fact('Client', client.name),
    ],
    change: changeOf(message),
    lines: [],
    footer: footerOf(message),
    link: { label: 'Open the alert', url: `${publicUrl}/alerts/${encodeURIComponent(alert.id)}` },
    thread: alert.id,
  }
}

/** The last bad result where it says more than the title, and what is particular about this message. */
function explanations(message: AlertMessage): string[] {
  const { kind, alert } = message
  if (kind === 'resolved') {
    const was = `It was: ${sentence(titleOf(message))}`
    return isGone(message)
      ? [was, 'That is no sign that it works again: it was removed or renamed, or is not sent.']
      : [was]
  }
  const said = isSame(alert.message, alert.title) ? [] : [alert.message]
  return kind === 'opened' ? said : [NOTES[kind], ...said]
}

const NOTES = {
  escalated: 'It was a warning before.',
  widened: 'More events are bad than in the last message.',
  flapping: 'It keeps changing between good and bad. Notifications pause until 10 results in a row agree.',
  reminder: 'It is not acknowledged yet. Acknowledging it stops these reminders.',
} as const

const isSame = (a: string, b: string): boolean => oneLine(a).replace(/\.$/, '') === oneLine(b).replace(/\.$/, '')

const factsOfOpen = ({ alert, facts }: AlertMessage, times: LocalTimes, at: number): Fact[] => [
  { name: 'Since', value: sinceWhen(times, alert.since, at) },
  // What was seen within a minute was seen at once.
  ...(alert.opened_at - alert.since < MINUTE ? [] : [{ name: 'Detected', value: times.moment(alert.opened_at, at) }]),
  ...facts.map(({ name, value }) => fact(name, value)),
]

/** The figures are those of the last bad result: as facts of their own they would read as how it is now. */
function factsOfResolved({ alert, facts }: AlertMessage, times: LocalTimes, at: number): Fact[] {
  const end = alert.resolved_at ?? at
  const lasted = { name: 'Lasted', value: `${times.span(alert.since, end, at)} (${lengthInWords(end - alert.since)})` }
  if (facts.length === 0) return [lasted]
  return [lasted, fact('Before', facts.map(({ name, value }) => `${name} ${value}`).join(' · '))]
}

function footerOf({ alert, site }: AlertMessage): string {
  const results = `${alert.occurrences} bad ${alert.occurrences === 1 ? 'result' : 'results'}`
  return `${cut(oneLine(site.url), LINE_MAX)} · ${results}`
}

const fact = (label: string, value: string): Fact => ({
  name: cut(oneLine(label), 40) || '?',
  value: cut(oneLine(value), 300) || '–',
})

const BLANK = { since: null, paragraphs: [], facts: [], change: null, lines: [], footer: null, thread: null }

const testCard = ({ client, asked_by }: TestMessage, { publicUrl }: CardOptions): Card => ({
  ...BLANK,
  tone: 'neutral',
  heading: `[TEST] ${name(client.name)} — this channel works`,
  what: `Alerts of ${name(client.name)} will arrive here`,
  paragraphs: [`Sent by hand by ${name(asked_by)}. There is nothing to do.`],
  link: { label: 'Open Tagwarden', url: publicUrl },
})

function ownCard(message: OwnFailureMessage, { publicUrl, at }: CardOptions): Card {
  const isOver = message.kind === 'own_recovery'
  const times = new LocalTimes('UTC')
  const since = sinceWhen(times, message.since, at)
  const lasted = `${times.span(message.since, at, at)} (${lengthInWords(at - message.since)})`
  return {
    ...BLANK,
    tone: isOver ? 'ok' : 'critical',
    heading: `[${isOver ? 'RESOLVED' : 'CRITICAL'}] Tagwarden itself — ${name(message.part)}`,
    what: capitalised(cut(oneLine(message.message), LINE_MAX)) || '?',
    since: isOver ? null : ` since ${since}`,
    paragraphs: isOver ? [] : ['While this lasts, alerts may come late or not at all.'],
    facts: [isOver ? { name: 'Lasted', value: lasted } : { name: 'Since', value: since }, fact('Node', message.node)],
    link: { label: 'Open Tagwarden', url: publicUrl },
    thread: `own:${name(message.part)}:${message.since}`,
  }
}
