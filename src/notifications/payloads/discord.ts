import { isoTime } from '../../lib/index.ts'
import type { Fact } from '../message.ts'
import { type Card, type CardOptions, linesWithin, type Tone } from './card.ts'
import { SHAPES } from './shapes.ts'
import { cut, escapedWithin } from './text.ts'

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
export function discordPayload(card: Card, { at }: CardOptions): object {
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
