import { MINUTE } from '../../lib/index.ts'
import { asFollowUp, type Card, cut, linesWithin, SHAPES, summaryOf, type Tone } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import type { ChatService } from './service.ts'

/** The Office connectors, which are being retired, and the workflows that replace them. */
const DOMAINS = ['.webhook.office.com', '.logic.azure.com', '.api.powerplatform.com']

export const teams = {
  name: 'Teams',
  title: 'Microsoft Teams',
  matches: (host) => DOMAINS.some((domain) => host.endsWith(domain) && host.length > domain.length),
  // The limit is four a second.
  paceMs: 300,
  body: (message, options) => teamsPayload(asFollowUp(cardOf(message, options))),
  outcome: {
    repeatsReason: true,
    rules: [
      // The Office connectors always answer 200, and say in the body what happened.
      {
        status: 200,
        reason: /HTTP error 429/,
        kind: 'passing',
        says: 'it got too many requests',
        retryAfterMs: MINUTE,
      },
      { status: 200, reason: /HTTP error (400|413)/, kind: 'message_refused', says: 'it does not accept this message' },
      { status: 200, reason: /HTTP error 4\d\d/, kind: 'channel_broken', says: 'the connector no longer works' },
      { status: 200, reason: /message delivery failed/i, kind: 'passing', says: 'it could not post the message' },
      {
        status: 202,
        reason: /^/,
        kind: 'delivered',
        says: 'Microsoft Teams accepted it, but does not say whether its workflow posted it',
      },
      {
        status: 400,
        reason: /NotEnabled|Disabled|Suspended|SchemaMismatch|Authorization/,
        kind: 'channel_broken',
        says: 'the workflow is turned off or expects something else',
      },
    ],
  },
} satisfies ChatService

/** The limit of a whole message, bytes (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors). */
export const TEAMS_MAX_BYTES = 28 * 1_024

const STYLES: Readonly<Record<Tone, string>> = {
  critical: 'attention',
  warning: 'warning',
  ok: 'good',
  neutral: 'emphasis',
}
const MAX_LINES = 15
const MAX_FACTS = 10
const TOLD_MAX = 2_000
const TOLD_LINES = 12
const SUMMARY_MAX = 200
const FACT_MAX = 200

/**
 * Returns the body for a workflow's webhook, and for the connectors that it replaces: an Adaptive Card. Text is in text runs, which
 * have no markup, because Teams' clients disagree about how to escape Markdown.
 */
function teamsPayload(card: Card): object {
  const { shown, more } = linesWithin(card, MAX_LINES)
  return {
    type: 'message',
    summary: cut(summaryOf(card), SUMMARY_MAX),
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: cut(summaryOf(card), SUMMARY_MAX),
          msteams: { width: 'Full' },
          body: [
            {
              type: 'Container',
              style: STYLES[card.tone],
              bleed: true,
              items: [runs(card.heading, { weight: 'Bolder', size: 'Medium' })],
            },
            runs(card.what, { weight: 'Bolder' }),
            ...paragraphsOf(card).map((line) => runs(line)),
            ...shown.map(({ tone, text }) => runs(`${SHAPES[tone]} ${text}`)),
            ...(more === null ? [] : [runs(more)]),
            ...(card.facts.length === 0 ? [] : [{ type: 'FactSet', facts: factsOf(card) }]),
            ...(card.change === null ? [] : [runs(card.change)]),
            ...(card.footer === null ? [] : [runs(card.footer, { isSubtle: true, size: 'Small' })]),
          ],
          actions: [{ type: 'Action.OpenUrl', title: card.link.label, url: card.link.url }],
        },
      },
    ],
  }
}

const runs = (text: string, look: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...look }],
})

/** Returns a block for each line, because some clients show a line break within a run as a space. Lines beyond the maximum are joined. */
function paragraphsOf({ paragraphs }: Card): string[] {
  const lines = cut(paragraphs.join('\n'), TOLD_MAX)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.length <= TOLD_LINES ? lines : [...lines.slice(0, TOLD_LINES - 1), lines.slice(TOLD_LINES - 1).join(' ')]
}

const factsOf = ({ facts }: Card) =>
  facts
    .slice(0, MAX_FACTS)
    .map(({ name, value }) => ({ title: escapeMarkdown(name), value: escapeMarkdown(cut(value, FACT_MAX)) }))

/**
 * Escapes a fact, which is Markdown. Some clients show the backslash of an escape, so only what would be taken for markup gets one:
 * an underscore within a name is none.
 */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\\*`]|\](?=[(])/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/^([-+>#])/, '\\$1')
    .replace(/^(\d+)([.)])(?=\s)/, '$1\\$2')
