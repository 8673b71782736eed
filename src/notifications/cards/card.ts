import { DAY, HOUR, MINUTE, withoutEnd } from '../../lib/index.ts'
import type { Fact } from '../message.ts'

/** How bad it is, for colours. */
export type Tone = 'critical' | 'warning' | 'ok' | 'neutral'

/**
 * A message in words, before any service's markup. In the order in which it is read: what broke, since when, measured
 * against expected, what changed shortly before, where to look. Printable text of bounded length throughout.
 */
export interface Card {
  tone: Tone
  /** `[CRITICAL] shop.acme.com — Tag failures`; at most 150 characters. */
  heading: string
  /** What is wrong in one line. */
  what: string
  /** ` since 09:42 CET (42 min)` or `. It was: …`, to be said right after `what` where there is one line only. */
  tail: string | null
  /** What explains it; may be long. */
  paragraphs: readonly string[]
  facts: readonly Fact[]
  /** What changed shortly before. */
  change: string | null
  /** One for each of several alerts, the worst first. */
  lines: readonly Line[]
  footer: string | null
  link: { label: string; url: string }
  /** The same for all messages about one alert. */
  thread: string | null
  /** Where people were notified of it before: `It opened at 09:54 CET.` */
  opened?: string | null
}

/** What a follow-up repeats: the rest stands in the opening. */
const REPEATED: readonly string[] = [
  'Since',
  'Lasted',
  'Client',
  'Lost',
  'Lost so far',
  'On call',
  'Likely cause',
  'Now also on',
  'Measured',
  'Usual',
  'Threshold',
  'Before',
  'Alerts',
]

/** A later message, for services whose messages cannot refer to earlier ones: short, and with when it opened, by which people find that. */
export function asFollowUp(card: Card): Card {
  const { opened = null, paragraphs, facts } = card
  if (opened === null) return card
  const repeated = facts.filter(({ name }) => REPEATED.includes(name))
  return { ...card, paragraphs: [...paragraphs, opened], facts: repeated, footer: null }
}

/** Beside each line of a list: many people cannot see colour, and a chat has none there. */
export const SHAPES: Readonly<Record<Tone, string>> = { critical: '■', warning: '▲', ok: '●', neutral: '•' }

export interface Line {
  tone: Tone
  text: string
}

export interface CardOptions {
  /** `PUBLIC_URL` without a slash at its end. */
  publicUrl: string
  /** When it is sent, epoch ms: lengths of time are those of then. */
  at: number
}

/** A lock screen has room for twice as much: long names leave some of it to what is wrong. */
const HEADING_SHOWN = 70

/** The whole in one line, as telephones show it. */
export const summaryOf = ({ heading, what, tail }: Card): string =>
  `${cut(heading, HEADING_SHOWN)}: ${what}${tail ?? ''}`

/** The lines, as many as `max`, and how many more there are. */
export function linesWithin({ lines }: Card, max: number): { shown: readonly Line[]; more: string | null } {
  if (lines.length <= max) return { shown: lines, more: null }
  return { shown: lines.slice(0, max), more: `and ${lines.length - max} more` }
}

/** Figures come from probes, which name tags, events and what a page answers: what strangers chose makes no link there either. */
export const fact = (label: string, value: string): Fact => ({
  name: cut(defanged(oneLine(label)), 40) || '?',
  value: cut(defanged(oneLine(value)), 300) || '–',
})

/**
 * Characters that are no text: controls but for the line break, and those that turn or mark the direction of the text around
 * them, by which a name could make a message read as another.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Text that any service takes: whole characters, line breaks as `\n`, nothing that does not print. */
export const printable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replace(UNPRINTABLE, (char) => (char === '\n' ? char : ''))
    .trim()

export const oneLine = (text: string): string => printable(text).replace(/\s+/g, ' ')

/**
 * Text of strangers, in which services and mail programs find no address to make a link of: `https[:]//evil.example`. Anyone who
 * sends events chooses their names, and a link in an alert is one that people trust.
 */
export const defanged = (text: string): string =>
  text
    .replaceAll('://', '[:]//')
    .replace(/\bwww\./gi, 'www[.]')
    .replace(/(?<=[\p{L}\p{N}-])\.(?=[a-z]{2,24}\/)/giu, '[.]')

/**
 * At most `max` UTF-16 units of a text, at a word where there is one near the end, and with … for what is missing. No
 * character is cut in two.
 */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const end = isLowSurrogate(text.charCodeAt(max - 1)) ? max - 2 : max - 1
  const head = text.slice(0, Math.max(0, end))
  const atSpace = /\s/.test(text.charAt(head.length))
    ? head.length
    : Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'))
  const kept = atSpace >= 0.7 * head.length ? head.slice(0, atSpace) : head
  return `${withoutEnd(kept, ' \n\u00a0,;:.…–—-')}…`
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** As much of a text as is at most `max` long once it is escaped: what stands for a character is never cut in two either. */
export function escapedWithin(text: string, max: number, escapeMarks: (text: string) => string): string {
  for (let length = Math.min(text.length, max); ; ) {
    const escaped = escapeMarks(cut(text, length))
    if (escaped.length <= max || length <= 1) return escaped
    length = Math.max(1, Math.min(length - 1, Math.floor((length * max) / escaped.length)))
  }
}

/** What is said in one line ends here: a title, a line of a list. */
export const LINE_MAX = 250
/** Two of them and a word of severity are a heading that every service takes whole. */
const NAME_MAX = 60

/** Never empty: services refuse empty texts. */
export const name = (text: string): string => cut(defanged(oneLine(text)), NAME_MAX) || '?'

export const sentence = (text: string): string => (/[.!?…:)]$/.test(text) ? text : `${text}.`)

/** A length in ms as people say it: `less than a minute`, `42 min`, `2 h 10 min`, `3 days`. */
export function lengthInWords(length: number): string {
  if (length < MINUTE) return 'less than a minute'
  const minutes = Math.floor(length / MINUTE)
  if (length < 2 * HOUR) return `${minutes} min`
  if (length >= 2 * DAY) return `${Math.floor(length / DAY)} days`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** Times as people of one zone read them. The zone is named by its letters where it has any: `CET`, `EST`, else `GMT+5:30`. */
export class LocalTimes {
  readonly #zone: string

  /** @param zone IANA name; UTC for one that is not known here: a message goes out all the same */
  constructor(zone: string) {
    this.#zone = isZone(zone) ? zone : 'UTC'
  }

  /** `09:42 CET`; with the day where that is not the day of `at`, and the year where that differs too. */
  moment(time: number, at: number): string {
    return `${this.#bare(time, at)} ${this.#zoneOf(time)}`
  }

  /** `09:42 – 10:24 CET`; with days as in `moment`, that of the end where it is not the day of the beginning, and both zones where clocks changed. */
  span(from: number, to: number, at: number): string {
    const isChanged = this.#zoneOf(from) !== this.#zoneOf(to)
    return `${isChanged ? this.moment(from, at) : this.#bare(from, at)} – ${this.moment(to, from)}`
  }

  /** `Fri 20 Nov 2026` */
  day(time: number): string {
    return this.#format(time, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }).replaceAll(',', '')
  }

  #bare(time: number, at: number): string {
    const clock = this.#format(time, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    if (this.day(time) === this.day(at)) return clock
    const date = this.#format(time, { day: 'numeric', month: 'short' })
    const [year, thisYear] = [time, at].map((moment) => this.#format(moment, { year: 'numeric' }))
    return `${date} ${year === thisYear ? '' : `${year} `}${clock}`
  }

  /** Each region's English knows the letters of its own zones only. */
  #zoneOf(time: number): string {
    const names = ['en-GB', 'en-US', 'en-AU'].map(
      (locale) =>
        new Intl.DateTimeFormat(locale, { timeZone: this.#zone, timeZoneName: 'short' })
          .formatToParts(time)
          .find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC',
    )
    return names.find((name) => !/\d/.test(name)) ?? names[0] ?? 'UTC'
  }

  #format(time: number, options: Intl.DateTimeFormatOptions): string {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: this.#zone }).format(time)
  }
}

/** `09:42 CET (42 min)` */
export const sinceWhen = (times: LocalTimes, since: number, at: number): string =>
  `${times.moment(since, at)} (${lengthInWords(at - since)})`

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
