import { SECOND } from '../../lib/index.ts'
import { cut, summaryOf } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { Message, MessageGroup } from '../message.ts'
import { type BodyOptions, type ChatService, dedupKeyOf, isOver } from './service.ts'

/**
 * The alert API of Opsgenie, which Jira Service Management has taken over: the same calls under
 * `https://api.atlassian.com/jsm/ops/integration`.
 */
export const opsgenie = {
  name: 'Jira Service Management',
  title: 'Jira Service Management',
  matches: () => false,
  isForIncidents: true,
  paceMs: SECOND / 5,
  url: (address, message, options) => {
    const url = new URL(address)
    const base = url.pathname.replace(/\/$/, '')
    const alias = encodeURIComponent(dedupKeyOf(message, options))
    url.pathname = isOver(message) ? `${base}/v2/alerts/${alias}/close` : `${base}/v2/alerts`
    if (isOver(message)) url.searchParams.set('identifierType', 'alias')
    return url
  },
  body: alertOf,
  headers: (_order, _body, key) => ({ authorization: `GenieKey ${key ?? ''}` }),
  outcome: { repeatsReason: false, rules: [] },
} satisfies ChatService

/** https://docs.opsgenie.com/docs/alert-api: one character too many and the whole alert is refused. */
const LIMITS = { message: 130, description: 15_000, note: 25_000, detail: 300, source: 100 } as const

function alertOf(message: Message | MessageGroup, options: BodyOptions): object {
  const card = cardOf(message, options)
  const text = [card.what, ...card.paragraphs].join('\n')
  if (isOver(message)) return { source: 'Tagwarden', note: cut(text, LIMITS.note) }
  return {
    message: cut(summaryOf(card), LIMITS.message),
    alias: dedupKeyOf(message, options),
    description: cut(`${text}\n${card.link.label}: ${card.link.url}`, LIMITS.description),
    priority: card.tone === 'critical' ? 'P1' : card.tone === 'warning' ? 'P3' : 'P5',
    source: 'Tagwarden',
    entity: 'site' in message ? cut(message.site.name, LIMITS.source) : 'Tagwarden',
    details: Object.fromEntries(card.facts.map(({ name, value }) => [name, cut(value, LIMITS.detail)])),
  }
}
