import { isoTime } from '../../lib/index.ts'
import { type CardOptions, cut, oneLine, summaryOf } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { Message, MessageGroup } from '../message.ts'
import { type BodyOptions, type ChatService, dedupKeyOf, isOver } from './service.ts'

/**
 * PagerDuty's Events API v2: an opening triggers an incident there, an acknowledgement acknowledges it, an end resolves it. An
 * acknowledgement cannot be withdrawn: there it expires by PagerDuty's own time limit.
 */
export const pagerduty = {
  name: 'PagerDuty',
  title: 'PagerDuty',
  // Reached by its key, whatever the address is.
  matches: () => false,
  isForIncidents: true,
  follows: ['acknowledged'],
  // It accepts bursts, but slows down more than 120 a minute per key.
  paceMs: 500,
  body: eventOf,
  outcome: {
    repeatsReason: false,
    rules: [
      // https://developer.pagerduty.com/docs/events-api-v2/trigger-events: an unknown key is a 400 too.
      { status: 400, reason: /routing[_ ]key/i, kind: 'channel_broken', says: 'it does not know the integration key' },
    ],
  },
} satisfies ChatService

const SUMMARY_MAX = 1_024
/** Longest name; PagerDuty documents no limit for these fields. */
const NAME_MAX = 255

function eventOf(message: Message | MessageGroup, options: BodyOptions): object {
  const event = {
    routing_key: options.credential ?? '',
    dedup_key: dedupKeyOf(message, options),
  }
  if (isOver(message)) return { ...event, event_action: 'resolve' }
  if (message.kind === 'acknowledged') return { ...event, event_action: 'acknowledge' }
  const card = cardOf(message, options)
  return {
    ...event,
    event_action: 'trigger',
    client: 'Tagwarden',
    client_url: card.link.url,
    links: [{ href: card.link.url, text: card.link.label }],
    payload: {
      summary: cut(summaryOf(card), SUMMARY_MAX),
      timestamp: isoTime(sinceOf(message, options)),
      ...placeOf(message),
      severity: card.tone === 'critical' || card.tone === 'warning' ? card.tone : 'info',
      custom_details: Object.fromEntries([
        ['What', [card.what, ...card.paragraphs].join(' ')],
        ...card.facts.map(({ name, value }) => [name, value]),
        ...(card.change === null ? [] : [['Changed before', card.change]]),
      ]),
    },
  }
}

const sinceOf = (message: Message | MessageGroup, { at }: CardOptions): number =>
  'alert' in message ? message.alert.since : at

function placeOf(message: Message | MessageGroup): object {
  if (!('alert' in message)) return { source: 'Tagwarden' }
  const { site, probe, client } = message
  const named = (text: string): string => cut(oneLine(text), NAME_MAX) || '?'
  return { source: named(site.name), component: named(probe.name), group: named(client.name), class: probe.probe_type }
}
