import { DAY, HOUR, MINUTE } from './clock.ts'

// Made once: `toLocaleString` builds one each time, which took longer than all detectors together.
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const ONE_DIGIT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

/** `1,234`; below 10 with one decimal, if it is not whole. */
export const number = (value: number): string => (Math.abs(value) < 10 ? ONE_DIGIT : WHOLE).format(value)

/** `1 event`, `1,234 events` */
export function counted(count: number, one: string, many = `${one}s`): string {
  const shown = number(count)
  return `${shown} ${shown === '1' ? one : many}`
}

type Write = (value: number) => string

/** A fraction as `12 %`, below 10 % with one decimal. Only all is 100 %, and only none is 0 %. */
export function percent(fraction: number, write: Write = number): string {
  const shown = write(100 * fraction)
  if (shown === '0' && fraction > 0) return '0.1 %'
  return shown === '100' && fraction < 1 ? `${ONE_DIGIT.format(Math.min(99.9, 100 * fraction))} %` : `${shown} %`
}

const FINER: readonly Write[] = [number, ...[1, 2, 3].map((digits) => finer(digits))]

function finer(maximumFractionDigits: number): Write {
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits })
  return (value) => format.format(value)
}

const [TWO_DIGITS, FINEST] = [finer(2), finer(3)]

/**
 * A figure and the bound it is judged by, with as many digits as tell them apart: 49.9 % where at least 50 % is required, not 50
 * %. A bound that someone set is not rounded: 97.5 %.
 */
export function apart(value: number, bound: number, figure: (value: number, write: Write) => string): [string, string] {
  const set = figure(bound, TWO_DIGITS)
  const isSet = set === figure(bound, FINEST)
  const written = FINER.map((write): [string, string] => [figure(value, write), figure(bound, write)])
  return (
    written.find(([one, other]) => one !== other && (!isSet || other === set)) ?? [
      figure(value, number),
      figure(bound, number),
    ]
  )
}

/** A duration in ms as `45 min`, `2 h 10 min`, `3 days`; `less than a minute` when it rounds to none. */
export function duration(length: number): string {
  const minutes = Math.round(length / MINUTE)
  if (minutes === 0) return 'less than a minute'
  if (minutes * MINUTE < 2 * HOUR) return `${minutes} min`
  if (length >= 2 * DAY) return `${Math.round(length / DAY)} days`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

export const capitalised = (text: string): string => {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}

/** The closing quotation mark for each opening one. */
const CLOSED_BY: Readonly<Record<string, string>> = { '“': '”', '‘': '’' }

/**
 * A text in quotation marks. Quotations inside it take the marks of their depth, “‘Meta CAPI’ failed”, and one whose end was cut
 * off with the text is closed: “‘Meta C…’”. Apostrophes stay.
 */
export function quoted(text: string): string {
  let says = '“'
  /** Closing marks of the quotations open here, the innermost last. */
  const open: string[] = []
  const mark = (outer: string, inner: string): string => (open.length % 2 === 0 ? inner : outer)
  for (const character of text) {
    const closedBy = CLOSED_BY[character]
    if (closedBy !== undefined) {
      says += mark('“', '‘')
      open.push(closedBy)
    } else if (character === open.at(-1)) {
      open.pop()
      says += mark('”', '’')
    } else says += character
  }
  while (open.pop() !== undefined) says += mark('”', '’')
  return `${says}”`
}

/** `“a”, “b”, “c” and 4 more` */
export function namesInWords(names: readonly string[], most = 3): string {
  const named = names.slice(0, most).map(quoted)
  const rest = names.length - named.length
  return rest === 0 ? named.join(', ') : `${named.join(', ')} and ${rest} more`
}

/**
 * The text without any of these characters at its end: `withoutEnd('a//', '/')` is `a`. The pattern `/\/+$/` would do the same,
 * but in quadratic time for a text with many of them elsewhere.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/**
 * The text without what PostgreSQL cannot store, NUL and lone surrogates: both become the replacement character, on every engine,
 * so that a stored text can be found by what was sent.
 */
export function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0') ? text : text.replaceAll('\0', '\ufffd').toWellFormed()
}

/** An address without its query and fragment, which may contain keys; `?…` shows that there was one. */
export function maskedQuery(address: string): string {
  const at = address.search(/[?#]/)
  return at === -1 ? address : `${address.slice(0, at)}?…`
}

/** The same for an address or a path; any other value unchanged. */
export const maskedIfAddress = <T>(value: T): T | string =>
  typeof value === 'string' && /^(\/|https?:\/\/)/i.test(value) ? maskedQuery(value) : value

/** The part of a text that every system accepts in a file name: `my-shop`, or `fallback` when nothing remains. */
export function fileNamePart(text: string, fallback: string): string {
  const part = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '')
  return part || fallback
}

/**
 * A text as a CSV field can hold it where formulas are escaped at its beginning. Where the comma is the decimal separator, the quotes
 * of a field are within a cell and quote nothing: spreadsheets begin a new cell after a semicolon or a line break, also before a
 * quote, and would run what follows.
 */
export const csvField = (text: string): string => text.replace(/[;\t\r\n]"*(?=[=+@\-＝＋＠－])/g, "$&'")

/** A text as an SVG element or attribute can hold it: without characters that XML forbids, and without markup. */
export const svgText = (text: string): string =>
  printable(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/**
 * Without control characters, lone surrogates and unassigned characters: XML 1.0 forbids control characters and surrogates even
 * when escaped.
 */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\p{Cn}]/gu, ' ').trim()

/** In one line, without control characters and those that are invisible or reverse text: it must not pass for something else. */
export const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

/** At most `most` characters as people count them (graphemes), with an ellipsis for the rest. */
export function shortened(text: string, most: number): string {
  // Splitting each of the thousands of short texts in an answer would take longer than all the rest.
  if (text.length <= most) return text
  const characters = Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
