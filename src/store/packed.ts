/**
 * Packed counts: rows of names and counts as one text, such as `[["GA4",3,0,1],["Ads",1]]`. The names come first, then the counts in the
 * order of their columns, without zeros at the end. A name may occur in several rows: what counts is their sum.
 *
 * A minute of a site has some twenty rows of counts. As one text they cost a fold one row.
 */
export type PackedRow = readonly (string | number)[]

/** Name of the aggregate function that connections to SQLite define: `sum_packed(names, text)`. */
export const SUM_PACKED = 'sum_packed'

const QUOTE = 34
const COMMA = 44
const ZERO = 48
const NINE = 57
const OPEN = 91
const CLOSE = 93
/** Numbers with more digits may be too large to be read digit by digit without being rounded on the way. */
const EXACT_DIGITS = 15

/** Sums packed counts by name. */
export class PackedSums {
  readonly #names: number
  /** Counts by name, as names stand in the text: `"purchase","GA4"`. */
  readonly #rows = new Map<string, number[]>()

  /** @param names how many names each row begins with */
  constructor(names: number) {
    this.#names = names
  }

  /** How many rows the sum has. */
  get size(): number {
    return this.#rows.size
  }

  /** @throws SyntaxError when it is no packed text */
  add(text: string): void {
    // As we write it nearly always. Reading that takes two thirds of the time that `JSON.parse` and adding up its arrays take.
    if (text.startsWith('[["') && !text.includes('\\') && !text.includes(', ')) this.#addPlain(text)
    else this.#addParsed(JSON.parse(text) as PackedRow[])
  }

  toText(): string {
    let text = ''
    for (const [names, counts] of this.#rows) {
      text += text === '' ? '[' : ','
      text += counts.length === 0 ? `[${names}]` : `[${names},${counts.join()}]`
    }
    return text === '' ? '[]' : `${text}]`
  }

  #addParsed(rows: readonly PackedRow[]): void {
    for (const row of rows) {
      const names = row.slice(0, this.#names).map((name) => JSON.stringify(String(name)))
      const sum = this.#sumOf(names.join())
      for (let i = this.#names; i < row.length; i++) addTo(sum, i - this.#names, Number(row[i]))
    }
  }

  /** @param text without backslashes, and without spaces but in names */
  #addPlain(text: string): void {
    let at = 1
    while (text.charCodeAt(at) === OPEN) {
      const start = at + 1
      at = start
      for (let name = 0; name < this.#names; name++) {
        if (name > 0) at++
        if (text.charCodeAt(at) !== QUOTE) throw new SyntaxError(`no name at ${at} of packed counts`)
        const end = text.indexOf('"', at + 1)
        if (end === -1) throw new SyntaxError(`no end of the name at ${at} of packed counts`)
        at = end + 1
      }
      const sum = this.#sumOf(text.slice(start, at))
      for (let index = 0; text.charCodeAt(at) === COMMA; index++) {
        const first = ++at
        let count = 0
        let digit = text.charCodeAt(at)
        while (digit >= ZERO && digit <= NINE) {
          count = count * 10 + digit - ZERO
          digit = text.charCodeAt(++at)
        }
        if ((digit !== COMMA && digit !== CLOSE) || at - first > EXACT_DIGITS) {
          // With a fraction or an exponent, or large.
          while (at < text.length && text.charCodeAt(at) !== COMMA && text.charCodeAt(at) !== CLOSE) at++
          count = Number(text.slice(first, at))
          if (Number.isNaN(count)) throw new SyntaxError(`no number at ${first} of packed counts`)
        }
        addTo(sum, index, count)
      }
      at += 2
    }
    if (at !== text.length || !text.endsWith(']]')) throw new SyntaxError('packed counts without their end')
  }

  #sumOf(names: string): number[] {
    const known = this.#rows.get(names)
    if (known !== undefined) return known
    const sum: number[] = []
    this.#rows.set(names, sum)
    return sum
  }
}

function addTo(sum: number[], index: number, count: number): void {
  if (index < sum.length) sum[index] = (sum[index] ?? 0) + count
  else sum.push(count)
}

/** Counts by their place. */
interface CountList {
  width: number
  at: (index: number) => number
}

/**
 * Packs rows of names and counts; null when there are none. Names must be storable.
 *
 * @param count how many of each row's counts to pack, if not all
 */
export const packRows = (
  rows: readonly (readonly [names: readonly string[], counts: CountList])[],
  count?: number,
): string | null =>
  rows.length === 0 ? null : `[${rows.map(([names, counts]) => packRow(names, counts, count)).join()}]`

/** One row of them, to be joined by commas within brackets. */
export function packRow(names: readonly string[], counts: CountList, count = counts.width): string {
  let text = ''
  for (const name of names) text += `${text === '' ? '[' : ','}${JSON.stringify(name)}`
  let last = count - 1
  while (last >= 0 && counts.at(last) === 0) last--
  for (let index = 0; index <= last; index++) text += `,${counts.at(index)}`
  return `${text}]`
}
