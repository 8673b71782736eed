import { withoutEnd } from '../../lib/index.ts'

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
  return `${withoutEnd(kept, ' \n\u00a0,;:.–—-')}…`
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

export const capitalised = (text: string): string => {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}
