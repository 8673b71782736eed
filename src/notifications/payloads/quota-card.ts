import { number } from '../../lib/index.ts'
import type { QuotaMessage } from '../message.ts'
import { name } from './alert-words.ts'
import type { Card, CardOptions } from './card.ts'
import { LocalTimes, lengthInWords } from './time.ts'

const REMEDY = 'A larger plan takes effect within seconds.'

/** Says what is used, what follows and when it ends. */
export function quotaCard(message: QuotaMessage, { publicUrl, at }: CardOptions): Card {
  const { client, events, limit, resets_at } = message
  const times = new LocalTimes('UTC')
  const left = resets_at - at
  return {
    ...wordsOf(message),
    since: null,
    facts: [
      { name: 'Used', value: `${number(events)} of ${number(limit)} events (${shareOf(message)})` },
      { name: 'Month ends', value: `${times.moment(resets_at, at)}${left > 0 ? ` (in ${lengthInWords(left)})` : ''}` },
      { name: 'Client', value: name(client.name) },
    ],
    change: null,
    lines: [],
    footer: null,
    link: { label: 'Open the client', url: `${publicUrl}/clients/${encodeURIComponent(client.id)}` },
    thread: null,
  }
}

function wordsOf(message: QuotaMessage): Pick<Card, 'tone' | 'heading' | 'what' | 'paragraphs'> {
  const client = name(message.client.name)
  if (message.step === 100) {
    return {
      tone: 'critical',
      heading: `[CRITICAL] ${client} — quota used up`,
      what: "All of this month's events are used: every request is refused (429), and nothing is counted",
      paragraphs: [`It lasts until the month ends. Until then the client's sites look silent. ${REMEDY}`],
    }
  }
  return {
    tone: 'warning',
    heading: `[WARNING] ${client} — quota nearly used up`,
    what: `${shareOf(message)} of this month's events are used`,
    paragraphs: [
      'At 100 % every request is refused (429), and nothing is counted until the month ends. A batch of more events than ' +
        `are left is refused before that. ${REMEDY}`,
    ],
  }
}

/** Rounded down: 100 % is only said of what is used up. */
const shareOf = ({ events, limit }: QuotaMessage): string => `${number(Math.floor((100 * events) / limit))} %`
