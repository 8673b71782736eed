import { SECOND } from '../../lib/index.ts'
import { asFollowUp, type Card, escapedWithin, linesWithin, SHAPES, summaryOf, type Tone } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { ChatService } from './service.ts'

export const slack = {
  name: 'Slack',
  title: 'Slack',
  matches: (host) => host === 'hooks.slack.com' || host === 'hooks.slack-gov.com',
  // The limit is one a second per webhook.
  paceMs: SECOND,
  body: (message, options) => slackPayload(asFollowUp(cardOf(message, options))),
  outcome: {
    repeatsReason: true,
    // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling-errors
    rules: [
      {
        status: 400,
        reason:
          /^(invalid_token|no_(service|service_id|team|active_hooks)|user_not_found|channel_(not_found|is_archived)|team_disabled|action_prohibited)$/,
        kind: 'channel_broken',
        says: 'the webhook no longer works',
      },
    ],
  },
} satisfies ChatService

/**
 * Slack's limits (https://docs.slack.dev/reference/block-kit/blocks), in characters after escaping. One character too many, and
 * Slack refuses the whole message.
 */
export const SLACK_LIMITS = { header: 150, section: 3_000, field: 2_000, fields: 10, url: 3_000 } as const

const COLOURS: Readonly<Record<Tone, string>> = {
  critical: '#e01e5a',
  warning: '#ecb22e',
  ok: '#2eb886',
  neutral: '#64748b',
}
const MAX_LINES = 10
/** Ten lines fit into a section. */
const LINE_MAX = 280
/** A name of 40 characters, each of which may become an entity, and the marks for bold. */
const NAME_MAX = 220

/**
 * Returns the body for an incoming webhook. Notifications show `text`; beside blocks Slack does not display it. The heading is
 * outside the attachment, which serves only for the coloured bar.
 *
 * Text of people or tags is plain text, in which nothing is markup. Only fields are `mrkdwn`, for their bold names.
 */
function slackPayload(card: Card): object {
  const { header, section, url } = SLACK_LIMITS
  const { shown, more } = linesWithin(card, MAX_LINES)
  const body = [card.what, ...card.paragraphs].join('\n')
  const lines = [
    ...shown.map(({ tone, text }) => `${SHAPES[tone]} ${escapedWithin(text, LINE_MAX, escapeEntities)}`),
    ...(more === null ? [] : [more]),
  ]
  return {
    text: escapedWithin(summaryOf(card), section, escapeEntities),
    blocks: [{ type: 'header', text: plain(card.heading, header) }],
    attachments: [
      {
        color: COLOURS[card.tone],
        fallback: escapedWithin(summaryOf(card), section, escapeEntities),
        blocks: [
          { type: 'section', text: plain(body, section) },
          ...(lines.length === 0 ? [] : [{ type: 'section', text: escapedPlain(lines.join('\n')) }]),
          ...(card.facts.length === 0 ? [] : [{ type: 'section', fields: fieldsOf(card) }]),
          ...(card.change === null ? [] : [{ type: 'section', text: mrkdwn('Changed before', card.change) }]),
          ...(card.footer === null ? [] : [{ type: 'context', elements: [plain(card.footer, section)] }]),
          ...(card.link.url.length > url
            ? []
            : [
                {
                  type: 'actions',
                  elements: [{ type: 'button', text: plain(card.link.label, 75), url: card.link.url }],
                },
              ]),
        ],
      },
    ],
  }
}

const plain = (text: string, max: number) => escapedPlain(escapedWithin(text, max, escapeEntities))

const escapedPlain = (text: string) => ({ type: 'plain_text', text, emoji: false })

const fieldsOf = ({ facts }: Card) => facts.slice(0, SLACK_LIMITS.fields).map(({ name, value }) => mrkdwn(name, value))

const mrkdwn = (name: string, value: string) => ({
  type: 'mrkdwn',
  text: `*${unformatted(name)}*\n${escapedWithin(value, SLACK_LIMITS.field - NAME_MAX, unformatted)}`,
  verbatim: true,
})

/** Escapes the three characters that Slack reads as mentions and links; it accepts no other entity. */
const escapeEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Slack reads these as markup at the edge of a word only: `add_to_cart` has none. */
const MARKUP = /(?<![\p{L}\p{N}])[*_~]|[*_~](?![\p{L}\p{N}])|`|:\S+:/u

/** Slack has no escape for its other markup and for emoji, but ignores both in code. */
const unformatted = (text: string): string =>
  MARKUP.test(text) ? `\`${escapeEntities(text.replaceAll('`', 'ˋ'))}\`` : escapeEntities(text)
