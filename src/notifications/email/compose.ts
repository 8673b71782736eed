import { type Card, linesWithin, SHAPES } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { Message, MessageGroup } from '../message.ts'
import { digestHtml, digestText } from './digest.ts'
import { block, button, COLOURS, escapeHtml, factTable, page, paragraph } from './html.ts'

/** An e-mail without its addresses. */
export interface EmailContent {
  /** One line. */
  subject: string
  text: string
  html: string
  /** Equal for all e-mails about one alert; null for one that stands alone. */
  thread: string | null
}

export interface ComposeOptions {
  publicUrl: string
  /** Epoch ms. */
  at: number
}

const MAX_LINES = 100

export function composeEmail(message: Message | MessageGroup, options: ComposeOptions): EmailContent {
  const card = cardOf(message, options)
  const isDigest = message.kind === 'digest'
  return {
    subject: card.heading,
    text: isDigest ? digestText(message, options.publicUrl) : textOf(card),
    html: isDigest ? digestHtml(message, options.publicUrl) : htmlOf(card),
    thread: card.thread,
  }
}

function textOf(card: Card): string {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const width = Math.max(0, ...card.facts.map(({ name }) => name.length)) + 2
  const sections = [
    [card.heading],
    [card.what, ...card.paragraphs],
    [...shown.map(({ tone, text }) => `${SHAPES[tone]} ${text}`), ...(more === null ? [] : [more])],
    card.facts.map(({ name, value }) => `${`${name}:`.padEnd(width)}${value}`),
    card.change === null ? [] : [card.change],
    [`${card.link.label}: ${card.link.url}`],
    card.footer === null ? [] : [card.footer],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function htmlOf(card: Card): string {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const lines = [
    ...shown.map(({ tone, text }) => lineOf(COLOURS[tone], SHAPES[tone], text)),
    ...(more === null ? [] : [escapeHtml(more)]),
  ]
  return page(card.heading, COLOURS[card.tone], [
    block(`<strong style="font-size:18px;line-height:26px">${escapeHtml(card.what)}</strong>`),
    ...card.paragraphs.map(paragraph),
    ...(lines.length === 0 ? [] : [block(lines.join('<br>'))]),
    ...(card.facts.length === 0 ? [] : [factTable(card.facts)]),
    ...(card.change === null ? [] : [paragraph(card.change)]),
    button(card.link),
    ...(card.footer === null ? [] : [block(escapeHtml(card.footer), 'muted')]),
  ])
}

const lineOf = (colour: string, shape: string, text: string): string =>
  `<span style="color:${colour}">${shape}</span> ${escapeHtml(text)}`
