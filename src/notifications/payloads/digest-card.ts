import type { DigestMessage, DigestSite } from '../message.ts'
import { name } from './alert-words.ts'
import type { Card, CardOptions } from './card.ts'
import { periodOf, scoreOf, trendOf, whole } from './digest-words.ts'

/** A digest in a few lines, for chats; e-mail has it in full. */
export function digestCard(digest: DigestMessage, { publicUrl }: CardOptions): Card {
  const open = digest.alerts.filter(({ resolved_at }) => resolved_at === null).length
  return {
    tone: 'neutral',
    heading: digestHeading(digest),
    what: `${alertsInWords(digest.alerts.length)}${open === 0 ? '' : `, ${open} still open`}`,
    since: null,
    paragraphs: [],
    facts: [],
    change: null,
    lines: digest.sites.map((site) => ({ tone: 'neutral', text: lineOf(site) })),
    footer: null,
    link: { label: 'Open Tagwarden', url: publicUrl },
    thread: null,
  }
}

function lineOf(site: DigestSite): string {
  const trend = trendOf(site)
  const score = scoreOf(site)
  return [
    `${name(site.name)}: ${whole(site.events)} events${trend === null ? '' : ` (${trend})`}`,
    score === null ? 'no score' : `score ${score}`,
  ].join(', ')
}

/** `[DIGEST] ACME — Fri 20 Nov 2026` */
export const digestHeading = (digest: DigestMessage): string =>
  `[DIGEST] ${name(digest.client.name)} — ${periodOf(digest)}`

export const alertsInWords = (count: number): string =>
  count === 0 ? 'No alerts' : `${count} ${count === 1 ? 'alert' : 'alerts'}`
