import { MINUTE, SECOND } from '../../lib/index.ts'
import { type Card, cut, escapedWithin, linesWithin, SHAPES, summaryOf, type Tone } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { ChatService } from './service.ts'

/** Without this parameter Google Chat ignores `thread`. */
const REPLY_OPTION = 'messageReplyOption'

export const googleChat = {
  name: 'Google Chat',
  title: 'Google Chat',
  matches: (host) => host === 'chat.googleapis.com',
  // The limit is one a second per webhook.
  paceMs: SECOND,
  url(address) {
    const url = new URL(address)
    if (!url.searchParams.has(REPLY_OPTION)) {
      url.searchParams.set(REPLY_OPTION, 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    }
    return url
  },
  body: (message, options) => googleChatPayload(cardOf(message, options)),
  outcome: {
    repeatsReason: true,
    rules: [
      {
        status: 400,
        reason: /API_KEY_INVALID|API key not valid/,
        kind: 'channel_broken',
        says: 'the webhook no longer works',
      },
    ],
    leastWaitMs: MINUTE,
  },
} satisfies ChatService

/** The limit of a whole message, bytes (https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create). */
export const GOOGLE_CHAT_MAX_BYTES = 32_000

const COLOURS: Readonly<Record<Tone, string>> = {
  critical: '#c62828',
  warning: '#b26a00',
  ok: '#1b7f4d',
  neutral: '#475569',
}
const MAX_LINES = 15
const MAX_FACTS = 10
/** The longest that each text may be in characters of HTML, so that all together stay below the limit in bytes. */
const SHARES = { what: 400, paragraphs: 2_000, line: 300, fact: 500, change: 700, footer: 400 } as const

/**
 * Returns the body for an incoming webhook. Notifications show `fallbackText`. Messages about one alert share a thread, if the
 * address's query asks for that: see `url`.
 */
function googleChatPayload(card: Card): object {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const text = [
    `<b><font color="${COLOURS[card.tone]}">${escapedWithin(card.what, SHARES.what, html)}</font></b>`,
    ...(card.paragraphs.length === 0 ? [] : [escapedWithin(card.paragraphs.join('\n'), SHARES.paragraphs, html)]),
    ...shown.map(({ tone, text }) => `${SHAPES[tone]} ${escapedWithin(text, SHARES.line, html)}`),
    ...(more === null ? [] : [more]),
  ].join('<br>')
  return {
    fallbackText: cut(summaryOf(card), 500),
    cardsV2: [
      {
        cardId: 'tagwarden',
        card: {
          header: { title: card.heading },
          sections: [
            {
              widgets: [
                { textParagraph: { text } },
                ...card.facts.slice(0, MAX_FACTS).map(({ name, value }) => decorated(name, value, SHARES.fact)),
                ...(card.change === null ? [] : [decorated('Changed before', card.change, SHARES.change)]),
                ...(card.footer === null
                  ? []
                  : [{ textParagraph: { text: escapedWithin(card.footer, SHARES.footer, html) } }]),
                linkOf(card),
              ],
            },
          ],
        },
      },
    ],
    ...(card.thread === null ? {} : { thread: { threadKey: card.thread } }),
  }
}

const decorated = (name: string, value: string, max: number) => ({
  decoratedText: { topLabel: name, text: escapedWithin(value, max, html), wrapText: true },
})

/** A button takes https only; other addresses are shown as text to copy. */
const linkOf = ({ link }: Card) =>
  link.url.startsWith('https:')
    ? { buttonList: { buttons: [{ text: link.label, onClick: { openLink: { url: link.url } } }] } }
    : { textParagraph: { text: html(link.url) } }

/** Escapes a text for cards, which are HTML with few tags. */
const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>')
