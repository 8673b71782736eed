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

/** What brings no one anything to do: it changes what was said before. */
const REPLACING = ['explained', 'resolved'] as const

export const discord = {
  name: 'Discord',
  title: 'Discord',
  matches: (host, path) => HOSTS.includes(host) && PATH.test(path),
  // Five in two seconds.
  paceMs: 500,
  url(address) {
    const url = webhookUrl(address)
    // Without it, Discord answers before it has looked at the message, and does not say which it is.
    url.searchParams.set('wait', 'true')
    return url
  },
  body: (message, options) => {
    const card = cardOf(message, options)
    // What stands in the place of the opening says all of it.
    return discordPayload(REPLACING.some((kind) => kind === message.kind) ? card : asFollowUp(card), options)
  },
  // A webhook cannot reply, but change what it said.
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
      // Before the webhook is even looked at, for all that comes from this address.
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
      // Seconds with a fraction; versions before 8 of its interface count in whole milliseconds.
      return Number.isInteger(value) && value >= 1_000 ? value : Math.ceil(value * 1_000)
    },
  },
} satisfies ChatService

function webhookUrl(address: URL): URL {
  const url = new URL(address)
  // These take the bodies of other services.
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
 * What each text may take of the total. A message has either lines or paragraphs and facts: 256 + 504 + 2,000 + 1,900 + 314 +
 * 330 + 300 at most, or 256 + 504 + 3,240 + 314 + 330.
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

/** The body for a webhook. It pings no one, whatever the texts hold. */
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

/** A link in the text: as the embed's own `url`, a host without a dot in it would have the whole message refused. */
const linkField = ({ link }: Card) =>
  link.url.length > SHARES.link ? [] : [{ name: '\u200b', value: `[${link.label}](${link.url})`, inline: false }]

/** Discord takes a backslash before any mark of its markup. Some are marks at the beginning of a line only, or before others. */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\\*_~`|<@]|\](?=\()|:(?=\w+:)/g, '\\$&')
    .replace(/^([^\S\n]*)([-+>#])/gm, '$1\\$2')
    .replace(/^([^\S\n]*\d+)([.)])(?=\s)/gm, '$1\\$2')
