import { capitalised, number } from '../../lib/index.ts'
import {
  type Message,
  type MessageGroup,
  type Named,
  type OwnFailureMessage,
  type QuotaMessage,
  severityOfOwn,
  type TestMessage,
} from '../message.ts'
import { alertCard, groupCard } from './alert-card.ts'
import {
  type Card,
  type CardOptions,
  cut,
  fact,
  LINE_MAX,
  LocalTimes,
  lengthInWords,
  name,
  oneLine,
  sentence,
  sinceTail,
  sinceWhen,
} from './card.ts'
import { digestCard } from './digest-card.ts'
import { vendorCard } from './vendor-card.ts'

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
    case 'vendor_opened':
    case 'vendor_resolved':
      return vendorCard(message, options)
    case 'own_failure':
    case 'own_recovery':
      return ownCard(message, options)
    default:
      return alertCard(message, options)
  }
}

const BLANK = { tail: null, paragraphs: [], facts: [], change: null, lines: [], footer: null, thread: null }

const testCard = ({ client, asked_by }: TestMessage, { publicUrl }: CardOptions): Card => ({
  ...BLANK,
  tone: 'neutral',
  heading: `[TEST] ${name(client.name)} — this channel works`,
  what: `Alerts of ${name(client.name)} will arrive here`,
  paragraphs: [`Sent by hand by ${name(asked_by)}. There is nothing to do.`],
  link: { label: 'Open Tagwarden', url: publicUrl },
})

function ownCard(message: OwnFailureMessage, { publicUrl, at }: CardOptions): Card {
  const { client } = message
  const isOver = message.kind === 'own_recovery'
  const severity = severityOfOwn(message)
  const times = new LocalTimes('UTC')
  const since = sinceWhen(times, message.since, at)
  const lasted = `${times.span(message.since, at, at)} (${lengthInWords(at - message.since)})`
  const failure = capitalised(cut(oneLine(message.message), LINE_MAX)) || '?'
  const subject =
    client === undefined
      ? `Tagwarden itself — ${name(message.part.replace(/^loop:/, ''))}`
      : `${name(client.name)} — channel off`
  return {
    ...BLANK,
    tone: isOver ? 'ok' : severity,
    heading: `[${isOver ? 'RESOLVED' : severity.toUpperCase()}] ${subject}`,
    what: isOver ? `Works again after ${lengthInWords(at - message.since)}` : failure,
    tail: isOver ? null : sinceTail(since),
    paragraphs: isOver ? [`It was: ${sentence(failure)}`] : consequencesOf(message),
    facts: [isOver ? { name: 'Lasted', value: lasted } : { name: 'Since', value: since }, fact('Node', message.node)],
    link: client === undefined ? ownLink(message, publicUrl) : clientLink(client, publicUrl),
    thread: `own:${name(message.part)}:${message.since}`,
  }
}

const ownLink = ({ part }: OwnFailureMessage, publicUrl: string): Card['link'] =>
  part === 'deliveries'
    ? { label: 'Open the channels', url: `${publicUrl}/settings` }
    : { label: 'Open Tagwarden', url: publicUrl }

/** Says what follows from a failure and what to do first, where its own text does not. */
function consequencesOf({ part, client }: OwnFailureMessage): string[] {
  if (client !== undefined || part === 'clock') return []
  switch (part) {
    case 'store':
      return [
        `Events sent to this node are answered 500 and not counted while this lasts, and ${LATE}. “tagwarden doctor” says what to do.`,
      ]
    case 'connection':
      return [`Probes that need the internet judge nothing while this lasts, and ${LATE}.`]
    case 'deliveries':
      return ['Messages wait, and are tried again for 24 hours. Settings shows each channel and its error.']
    default:
      return [`While this lasts, ${LATE}. The log of this node says why.`]
  }
}

const LATE = 'alerts may come late or not at all'

const clientLink = ({ id }: Named, publicUrl: string): Card['link'] => ({
  label: 'Open the client',
  url: `${publicUrl}/clients/${encodeURIComponent(id)}`,
})

const REMEDY = 'A larger plan takes effect within seconds.'

/** Makes the card about a quota: what is used, what follows and when it ends. */
function quotaCard(message: QuotaMessage, { publicUrl, at }: CardOptions): Card {
  const { client, events, limit, seen_at, resets_at } = message
  const times = new LocalTimes('UTC')
  const left = resets_at - at
  return {
    ...wordsOf(message),
    tail: null,
    facts: [
      { name: 'Used', value: `${number(events)} of ${number(limit)} events (${shareOf(message)})` },
      { name: 'Since', value: times.moment(seen_at, at) },
      { name: 'Month ends', value: `${times.moment(resets_at, at)}${left > 0 ? ` (in ${lengthInWords(left)})` : ''}` },
      { name: 'Client', value: name(client.name) },
    ],
    change: null,
    lines: [],
    footer: null,
    link: clientLink(client, publicUrl),
    thread: null,
  }
}

function wordsOf(message: QuotaMessage): Pick<Card, 'tone' | 'heading' | 'what' | 'paragraphs'> {
  const client = name(message.client.name)
  if (message.step === 100) {
    const left = message.limit - message.events
    return {
      tone: 'critical',
      heading: `[CRITICAL] ${client} — quota used up`,
      what:
        left > 0
          ? `Only ${number(left)} of this month's events ${left === 1 ? 'is' : 'are'} left: requests with more are refused (429), and not counted`
          : "All of this month's events are used up: every request is refused (429), and nothing is counted",
      paragraphs: [`It lasts until the month ends. Until then the client's sites look silent. ${REMEDY}`],
    }
  }
  return {
    tone: 'warning',
    heading: `[WARNING] ${client} — quota nearly used up`,
    what: `${shareOf(message)} of this month's events are used`,
    paragraphs: [
      'At 100 % every request is refused (429), and nothing is counted until the month ends. A batch with more events than ' +
        `are left is refused before that. ${REMEDY}`,
    ],
  }
}

/** Rounded down, so that 100 % means that all is used up. */
const shareOf = ({ events, limit }: QuotaMessage): string => `${number(Math.floor((100 * events) / limit))} %`
