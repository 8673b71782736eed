import { DAY, HOUR, MINUTE, withoutEnd } from '../../lib/index.ts'
import type { Fact } from '../message.ts'

/** Severity, for colours. */
export type Tone = 'critical' | 'warning' | 'ok' | 'neutral'

/**
 * A message in words, before any service's markup. Its fields are in reading order: what broke, since when, measured against
 * expected, what changed shortly before, where to look. All text is printable and of bounded length.
 */
export interface Card {
  tone: Tone
  /** `[CRITICAL] shop.acme.com — Tag failures`; at most 150 characters. */
  heading: string
  /** What is wrong in one line. */
  what: string
  /** Follows `what` where there is one line only: ` · since 09:42 CET (42 min)` or `. It was: …`. */
  tail: string | null
  /** What is new in a later message, which comes first where there is one line only: with the severity alone it would read as another alarm. */
  news?: string | null
  /** Explanations, which may be long. */
  paragraphs: readonly string[]
  facts: readonly Fact[]
  /** What changed shortly before. */
  change: string | null
  /** One line for each of several alerts, the worst first. */
  lines: readonly Line[]
  footer: string | null
  link: { label: string; url: string }
  /** The same for all messages about one alert. */
  thread: string | null
  /** Says when it opened, in later messages: `It opened at 09:54 CET.` */
  opened?: string | null
}

/** Facts that a follow-up repeats; the others are in the opening. */
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

/**
 * Shortens the card of a later message, for services whose messages cannot refer to earlier ones. It says when the alert opened, so
 * that people find the opening.
 */
export function asFollowUp(card: Card): Card {
  const { opened = null, paragraphs, facts } = card
  if (opened === null) return card
  const repeated = facts.filter(({ name }) => REPEATED.includes(name))
  return { ...card, paragraphs: [...paragraphs, opened], facts: repeated, footer: null }
}

/** Shapes before each line of a list: many people cannot see colours, and chats have none there. */
export const SHAPES: Readonly<Record<Tone, string>> = { critical: '■', warning: '▲', ok: '●', neutral: '•' }

export interface Line {
  tone: Tone
  text: string
}

export interface CardOptions {
  /** `PUBLIC_URL` without a trailing slash. */
  publicUrl: string
  /** When it is sent, epoch ms: durations are as of then. */
  at: number
}

/** Characters of the heading in a summary: a lock screen shows twice as many, and long names must leave room for what is wrong. */
const HEADING_SHOWN = 70

/** Returns everything in one line, as phones show it. */
export const summaryOf = (card: Card): string => `${cut(card.heading, HEADING_SHOWN)}: ${previewOf(card)}`

/** Returns the line that follows the heading in lists of e-mails. */
export const previewOf = ({ what, tail, news = null }: Card): string =>
  `${news === null ? '' : `${news} `}${what}${tail ?? ''}`

/** Returns at most `max` lines, and how many more there are. */
export function linesWithin({ lines }: Card, max: number): { shown: readonly Line[]; more: string | null } {
  if (lines.length <= max) return { shown: lines, more: null }
  return { shown: lines.slice(0, max), more: `and ${lines.length - max} more` }
}

/** Makes a fact. Probes name tags, events and what pages answer, so a stranger's text must not become a link here either. */
export const fact = (label: string, value: string): Fact => ({
  name: cut(defanged(oneLine(label)), 40) || '?',
  value: cut(defanged(oneLine(value)), 300) || '–',
})

/**
 * Characters that are not text: controls except line breaks, and marks of text direction, with which a name could make a message
 * read differently.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns text that every service accepts: no lone surrogates, `\n` as line break, only printable characters. */
export const printable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replace(UNPRINTABLE, (char) => (char === '\n' ? char : ''))
    .trim()

export const oneLine = (text: string): string => printable(text).replace(/\s+/g, ' ')

/**
 * Changes text of strangers so that services and mail programs find no address in it to link: `https[:]//evil.example`. Anyone who
 * sends events chooses their names, and people trust a link in an alert.
 */
export const defanged = (text: string): string =>
  text
    .replaceAll('://', '[:]//')
    .replace(/\bwww\./gi, 'www[.]')
    .replace(/(?<=[\p{L}\p{N}-])\.(?=\p{L}{2,24}\/|xn--[a-z\d-]{2,59}\/|\p{L}{2,24}:\d|\p{L}{2,24}[?#]\w)/giu, '[.]')

/**
 * Cuts a text to at most `max` UTF-16 units, between words if there is a gap near the end, and marks it with …. It never cuts
 * inside a surrogate pair.
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

/** Returns as much of a text as is at most `max` long after escaping. It never cuts inside an escape sequence. */
export function escapedWithin(text: string, max: number, escapeMarks: (text: string) => string): string {
  for (let length = Math.min(text.length, max); ; ) {
    const escaped = escapeMarks(cut(text, length))
    if (escaped.length <= max || length <= 1) return escaped
    length = Math.max(1, Math.min(length - 1, Math.floor((length * max) / escaped.length)))
  }
}

/** Longest title or line of a list. */
export const LINE_MAX = 250
/** Longest name: two of them and a severity make a heading that every service accepts uncut. */
const NAME_MAX = 60

/** Returns a name for a message, never empty, because services refuse empty texts. */
export const name = (text: string): string => cut(defanged(oneLine(text)), NAME_MAX) || '?'

export const sentence = (text: string): string => (/[.!?…:)]$/.test(text) ? text : `${text}.`)

/**
 * Returns a duration in words: `less than a minute`, `42 min`, `2 h 10 min`, `3 days`.
 *
 * @param length ms
 */
export function lengthInWords(length: number): string {
  if (length < MINUTE) return 'less than a minute'
  const minutes = Math.floor(length / MINUTE)
  if (length < 2 * HOUR) return `${minutes} min`
  if (length >= 2 * DAY) return `${Math.floor(length / DAY)} days`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** Formats times for people in one time zone. The zone is shown by its letters where it has any (`CET`, `EST`), or else as `GMT+5:30`. */
export class LocalTimes {
  readonly #zone: string

  /** @param zone IANA name; UTC for an unknown one, because a message must be sent all the same */
  constructor(zone: string) {
    this.#zone = isZone(zone) ? zone : 'UTC'
  }

  /** Returns `09:42 CET`, with the day when it is not the day of `at`, and with the year when that differs too. */
  moment(time: number, at: number): string {
    return `${this.#bare(time, at)} ${this.#zoneOf(time)}`
  }

  /**
   * Returns `09:42 – 10:24 CET`, with days as in `moment`, with the day of the end when it is not the day of the beginning, and
   * with both zones when clocks changed.
   */
  span(from: number, to: number, at: number): string {
    const isChanged = this.#zoneOf(from) !== this.#zoneOf(to)
    return `${isChanged ? this.moment(from, at) : this.#bare(from, at)} – ${this.moment(to, from)}`
  }

  /** Returns `Fri 20 Nov 2026`. */
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

  /** Returns the zone's name. Each region's English knows the letters of its own zones only. */
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

/** Returns `09:42 CET (42 min)`. */
export const sinceWhen = (times: LocalTimes, since: number, at: number): string =>
  `${times.moment(since, at)} (${lengthInWords(at - since)})`

/** Set apart, because a title may be any sentence: `It is off until the address is edited since 09:42` would be wrong. */
export const sinceTail = (since: string): string => ` · since ${since}`

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
