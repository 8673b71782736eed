import { isoTime, MINUTE } from '../../lib/index.ts'
import {
  asFollowUp,
  type Card,
  type CardOptions,
  cut,
  escapedWithin,
  linesWithin,
  SHAPES,
  type Tone,
} from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { Fact } from '../message.ts'
import { type ChatService, parsedObject } from './service.ts'

const HOSTS = ['discord.com', 'discordapp.com'].flatMap((host) => [host, `ptb.${host}`, `canary.${host}`])
const PATH = /^\/api\/(v\d+\/)?webhooks\//

/** Messages that ask no one to act: they change an earlier message. */
const REPLACING = ['explained', 'resolved'] as const

export const discord = {
  name: 'Discord',
  title: 'Discord',
  matches: (host, path) => HOSTS.includes(host) && PATH.test(path),
  // The limit is five in two seconds.
  paceMs: 500,
  url(address) {
    const url = webhookUrl(address)
    // Without it Discord answers before it has checked the message, and without the message's id.
    url.searchParams.set('wait', 'true')
    return url
  },
  body: (message, options) => {
    const card = cardOf(message, options)
    // A message that replaces the opening must say all of it.
    return discordPayload(REPLACING.some((kind) => kind === message.kind) ? card : asFollowUp(card), options)
  },
  // A webhook cannot reply, but it can change its messages.
  edits: {
    kinds: REPLACING,
    receiptIn(body) {
      const id = parsedObject(body)?.id
      return typeof id === 'string' && /^\d{1,30}$/.test(id) ? id : null
    },
    url(address, receipt) {
      const url = webhookUrl(address)
      url.pathname = `${url.pathname.replace(/\/$/, '')}/messages/${receipt}`
      return url
    },
  },
  outcome: {
    repeatsReason: true,
    // https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
    rules: [
      {
        status: 400,
        reason: /^220001$/,
        kind: 'channel_broken',
        says: 'the webhook is one of a forum, which takes threads only',
      },
      // Cloudflare's answer to everything from this server's address, before the webhook is even checked.
      {
        status: 403,
        reason: /error code: 10(15|20)|cloudflare/i,
        kind: 'passing',
        says: 'it refuses requests for a while',
        retryAfterMs: 15 * MINUTE,
      },
    ],
    retryAfterMs(body) {
      const value = parsedObject(body)?.retry_after
      if (typeof value !== 'number' || !(value >= 0)) return null
      // Seconds with a fraction; versions of its API before 8 use whole milliseconds.
      return Number.isInteger(value) && value >= 1_000 ? value : Math.ceil(value * 1_000)
    },
  },
} satisfies ChatService

function webhookUrl(address: URL): URL {
  const url = new URL(address)
  // These paths take the bodies of other services.
  url.pathname = url.pathname.replace(/\/(slack|github)\/?$/, '')
  return url
}

/** Discord's limits (https://docs.discord.com/developers/resources/message#embed-object-embed-limits); `total` over all texts. */
export const DISCORD_LIMITS = {
  title: 256,
  description: 4_096,
  fieldName: 256,
  fieldValue: 1_024,
  fields: 25,
  footer: 2_048,
  total: 6_000,
} as const

const COLOURS: Readonly<Record<Tone, number>> = {
  critical: 0xe01e5a,
  warning: 0xecb22e,
  ok: 0x2eb886,
  neutral: 0x64748b,
}
const MAX_LINES = 10
const MAX_FACTS = 10
/**
 * The share of the total that each text may take. A message has either lines or paragraphs and facts: at most 256 + 504 + 2,000 +
 * 1,900 + 314 + 330 + 300, or 256 + 504 + 3,240 + 314 + 330.
 */
const SHARES = {
  what: 500,
  paragraphs: 2_000,
  line: 320,
  factName: 40,
  fact: 150,
  change: 300,
  link: 300,
  footer: 300,
} as const

/** Returns the body for a webhook. It mentions no one, whatever the texts contain. */
function discordPayload(card: Card, { at }: CardOptions): object {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const description = [
    `**${escapedWithin(card.what, SHARES.what, escapeMarkdown)}**`,
    ...(card.paragraphs.length === 0
      ? []
      : [escapedWithin(card.paragraphs.join('\n'), SHARES.paragraphs, escapeMarkdown)]),
    ...shown.map(({ tone, text }) => `${SHAPES[tone]} ${escapedWithin(text, SHARES.line, escapeMarkdown)}`),
    ...(more === null ? [] : [more]),
  ]
  return {
    username: 'Tagwarden',
    embeds: [
      {
        title: escapedWithin(card.heading, DISCORD_LIMITS.title, escapeMarkdown),
        description: description.join('\n'),
        color: COLOURS[card.tone],
        fields: [...card.facts.slice(0, MAX_FACTS).map(factField), ...changeField(card), ...linkField(card)],
        ...(card.footer === null ? {} : { footer: { text: cut(card.footer, SHARES.footer) } }),
        timestamp: isoTime(at),
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

const factField = ({ name, value }: Fact) => ({
  name: escapedWithin(name, SHARES.factName, escapeMarkdown),
  value: escapedWithin(value, SHARES.fact, escapeMarkdown),
  inline: value.length <= 40,
})

const changeField = ({ change }: Card) =>
  change === null
    ? []
    : [{ name: 'Changed before', value: escapedWithin(change, SHARES.change, escapeMarkdown), inline: false }]

/** Returns the link as text: Discord refuses the whole message when the embed's own `url` has a host without a dot. */
const linkField = ({ link }: Card) =>
  link.url.length > SHARES.link ? [] : [{ name: '\u200b', value: `[${link.label}](${link.url})`, inline: false }]

/** Escapes Discord's markup by backslashes. Some marks count only at the beginning of a line, or before others. */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\\*_~`|<@]|\](?=\()|:(?=\w+:)/g, '\\$&')
    .replace(/^([^\S\n]*)([-+>#])/gm, '$1\\$2')
    .replace(/^([^\S\n]*\d+)([.)])(?=\s)/gm, '$1\\$2')
