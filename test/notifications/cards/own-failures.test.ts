import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../../src/lib/index.ts'
import { summaryOf } from '../../../src/notifications/cards/card.ts'
import { cardOf } from '../../../src/notifications/cards/card-of.ts'
import type { OwnFailureMessage } from '../../../src/notifications/message.ts'
import { payloadOf } from '../../../src/notifications/services/services.ts'

const at = Date.parse('2026-11-20T09:24:00Z')
const failure = (part: string, message: string): OwnFailureMessage => ({
  kind: 'own_failure',
  part,
  message,
  since: at - 42 * MINUTE,
  node: 'tagwarden-1',
})
const cardFor = (part: string, message: string) =>
  cardOf(failure(part, message), { publicUrl: 'https://tagwarden.example', at })

test('a job of Tagwarden itself is named without inner words, and its beginning stands apart from what is wrong', () => {
  const card = cardFor('loop:fold', 'The background job “fold” is stuck or slow')
  equal(
    summaryOf(card),
    '[CRITICAL] Tagwarden itself — fold: The background job “fold” is stuck or slow · since 08:42 UTC (42 min)',
  )
})

const FOLLOWS: readonly [part: string, paragraphs: string[], link: string][] = [
  [
    'store',
    [
      'Events sent to this node are answered 500 and not counted while this lasts, and alerts may come late or not at all. “tagwarden doctor” says what to do.',
    ],
    'https://tagwarden.example',
  ],
  // Alerts are sent as usual, and its text says what to do.
  ['clock', [], 'https://tagwarden.example'],
  [
    'connection',
    ['Probes that need the internet judge nothing while this lasts, and alerts may come late or not at all.'],
    'https://tagwarden.example',
  ],
  [
    'deliveries',
    ['Messages wait, and are tried again for 24 hours. Settings shows each channel and its error.'],
    'https://tagwarden.example/settings',
  ],
  [
    'loop:probes',
    ['While this lasts, alerts may come late or not at all. The log of this node says why.'],
    'https://tagwarden.example',
  ],
]
for (const [part, paragraphs, url] of FOLLOWS) {
  test(`a message about ${part} says what follows from it, and leads to where it is seen`, () => {
    const card = cardFor(part, 'x')
    deepEqual([card.paragraphs, card.link.url], [paragraphs, url])
  })
}

test('a clock in doubt is a warning: nothing is lost meanwhile, and after a long time off there is nothing to do', () => {
  const clock = failure('clock', 'The clock is 3 days after the newest time that is stored')
  const options = { publicUrl: 'https://tagwarden.example', at }
  const { heading, tone } = cardOf(clock, options)
  deepEqual([heading, tone], ['[WARNING] Tagwarden itself — clock', 'warning'])
  equal(cardOf({ ...clock, kind: 'own_recovery' }, options).heading, '[RESOLVED] Tagwarden itself — clock')
  const payload = { ...options, idempotencyKey: 'k', channel: 'global' }
  const labelled = (part: string) => {
    const { commonLabels } = payloadOf('generic', failure(part, 'x'), payload) as { commonLabels: { severity: string } }
    return commonLabels.severity
  }
  deepEqual(['clock', 'store'].map(labelled), ['warning', 'critical'])
})
