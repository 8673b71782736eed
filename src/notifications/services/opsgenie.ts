import { capitalised, SECOND } from '../../lib/index.ts'
import { cut, oneLine, summaryOf } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { Message, MessageGroup } from '../message.ts'
import { type BodyOptions, type ChatService, dedupKeyOf, HANDLED, isOver } from './service.ts'

/**
 * Opsgenie's alert API, which Jira Service Management has taken over with the same calls under
 * `https://api.atlassian.com/jsm/ops/integration`.
 */
export const opsgenie = {
  name: 'Jira Service Management',
  title: 'Jira Service Management',
  matches: () => false,
  isForIncidents: true,
  follows: HANDLED,
  paceMs: SECOND / 5,
  url: (address, message, options) => {
    const url = new URL(address)
    const base = url.pathname.replace(/\/$/, '')
    const alias = encodeURIComponent(dedupKeyOf(message, options))
    const action = actionOf(message, base)
    url.pathname = action === null ? `${base}/v2/alerts` : `${base}/v2/alerts/${alias}/${action}`
    if (action !== null) url.searchParams.set('identifierType', 'alias')
    return url
  },
  body: alertOf,
  headers: (_order, _body, key) => ({ authorization: `GenieKey ${key ?? ''}` }),
  // An existing alert keeps the priority that it was created with, and pages no one again under the same alias.
  beside: {
    keyOf: (message) => (message.kind === 'escalated' ? `tagwarden:${message.alert.id}:critical` : null),
    isAboutAll: (message) => isOver(message) || HANDLED.some((kind) => kind === message.kind),
  },
  outcome: { repeatsReason: false, rules: [] },
} satisfies ChatService

/** Jira Service Management has the same calls as Opsgenie except for one. */
const JIRA_PATH = /\/jsm\/ops\/integration$/

/** Returns the action on the existing alert; null creates the alert or adds to it. */
function actionOf(message: Message | MessageGroup, base: string): string | null {
  if (isOver(message)) return 'close'
  if (message.kind === 'acknowledged') return 'acknowledge'
  if (message.kind !== 'unacknowledged') return null
  // Jira Service Management cannot withdraw an acknowledgement, so a note tells people.
  return JIRA_PATH.test(base) ? 'notes' : 'unacknowledge'
}

/** https://docs.opsgenie.com/docs/alert-api: one character too many, and the whole alert is refused. */
const LIMITS = { message: 130, description: 15_000, note: 25_000, detail: 300, source: 100, user: 100 } as const

function alertOf(message: Message | MessageGroup, options: BodyOptions): object {
  const card = cardOf(message, options)
  const text = [card.what, ...card.paragraphs].join('\n')
  if (isOver(message)) return { source: 'Tagwarden', note: cut(text, LIMITS.note) }
  if (message.kind === 'acknowledged' || message.kind === 'unacknowledged') {
    const { handled_by = 'Tagwarden' } = message.alert
    const note = message.incident?.note ?? `${capitalised(message.kind)} by ${handled_by}`
    return { source: 'Tagwarden', user: cut(oneLine(handled_by), LIMITS.user), note: cut(note, LIMITS.note) }
  }
  return {
    message: cut(summaryOf(card), LIMITS.message),
    alias: dedupKeyOf(message, options),
    description: cut(`${text}\n${card.link.label}: ${card.link.url}`, LIMITS.description),
    priority: card.tone === 'critical' ? 'P1' : card.tone === 'warning' ? 'P3' : 'P5',
    source: 'Tagwarden',
    entity: 'site' in message ? cut(oneLine(message.site.name), LIMITS.source) : 'Tagwarden',
    details: Object.fromEntries([
      ...card.facts.map(({ name, value }) => [name, cut(value, LIMITS.detail)]),
      ...(card.change === null ? [] : [['Changed before', cut(card.change, LIMITS.detail)]]),
    ]),
  }
}
