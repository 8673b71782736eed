import type { LocalTime } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'
import { type CsvRecord, isLocal, noTime, timeOf } from './csv.ts'

/** A file of one or several series. */
export interface SeriesFile {
  /** One for each series, as in the header. */
  readonly names: readonly string[]
  /** Whether the file names its series; then the output does, too. */
  readonly isNamed: boolean
  readonly rows: AsyncIterable<SeriesRow>
}

export interface SeriesRow {
  /** As written in the file, but with a point before a fraction, as a comma would be a new column of the output. */
  readonly timestamp: string
  /** Epoch ms, never earlier than the previous row's. */
  readonly time: number
  /** One for each series, as written in the file; an empty text is a gap of a named series. */
  readonly values: readonly string[]
}

interface Columns {
  readonly timestamp: number
  readonly series: readonly { readonly name: string; readonly at: number }[]
  readonly isNamed: boolean
}

/**
 * Reads the header; the rows are read as they are iterated.
 *
 * @throws Error naming the line where a column, a time or a value is missing or wrong
 */
export async function openSeries(records: AsyncIterable<CsvRecord>, clock: LocalTime): Promise<SeriesFile> {
  const iterator = records[Symbol.asyncIterator]()
  const header = await iterator.next()
  if (header.done === true) throw new Error('line 1: there is no header line with the columns timestamp and value')
  const columns = columnsOf(header.value.record)
  return {
    names: columns.series.map(({ name }) => name),
    isNamed: columns.isNamed,
    rows: readRows({ [Symbol.asyncIterator]: () => iterator }, columns, clock),
  }
}

/** A column `value` is the only series, and other columns are ignored. Without it, every column but `timestamp` is a series. */
function columnsOf(header: readonly string[]): Columns {
  const names = header.map((name) => name.toLowerCase())
  const timestamp = names.indexOf('timestamp')
  if (timestamp === -1) {
    // Spreadsheets in countries with a decimal comma separate by semicolons.
    const how = header.length === 1 && /[;\t]/.test(header[0] ?? '') ? ', separated by commas' : ''
    throw new Error(`line 1: the header has no column timestamp; it needs timestamp and value${how}`)
  }
  const value = names.indexOf('value')
  if (value !== -1) return { timestamp, series: [{ name: 'value', at: value }], isNamed: false }
  const series = header.map((name, at) => ({ name, at })).filter(({ at }) => at !== timestamp)
  if (series.length === 0) {
    throw new Error('line 1: the header has no column value; it needs timestamp and value, or a column for each series')
  }
  for (const { name, at } of series) {
    if (name === '') throw new Error(`line 1: column ${at + 1} has no name`)
    if (header.indexOf(name) !== at) throw new Error(`line 1: two columns have the name "${name}"`)
  }
  return { timestamp, series, isNamed: true }
}

/** Without the notations of programs, like `0x10`, which `Number` reads as well. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const isNumber = (text: string): boolean => DECIMAL.test(text) && Number.isFinite(Number(text))

async function* readRows(
  records: AsyncIterable<CsvRecord>,
  { timestamp: timestampAt, series, isNamed }: Columns,
  clock: LocalTime,
): AsyncGenerator<SeriesRow> {
  let latest = Number.NEGATIVE_INFINITY
  let isEmpty = true
  for await (const { record, info } of records) {
    const timestamp = record[timestampAt] ?? ''
    const time = timeOf(timestamp, clock)
    if (time === null) throw new Error(`line ${info.lines}: ${noTime('timestamp', timestamp)}`)
    const values = series.map(({ name, at }) => {
      const value = record[at] ?? ''
      if (value === '' ? !isNamed : !isNumber(value)) {
        throw new Error(`line ${info.lines}: ${name} "${value}" is not a number`)
      }
      return value
    })
    if (time < latest && !(isLocal(timestamp) && isClockGoingBack(time, latest, clock))) {
      throw new Error(`line ${info.lines}: ${timestamp} comes before the row above; the rows must be in order of time`)
    }
    latest = Math.max(latest, time)
    isEmpty = false
    yield { timestamp: timestamp.replace(',', '.'), time: latest, values }
  }
  if (isEmpty) throw new Error('there is no row below the header: nothing to judge')
}

/**
 * Whether a step back in local time is the end of summer time, when an hour comes twice: the rows of its repetition then count for
 * its end. Any other step back means rows out of order.
 */
function isClockGoingBack(time: number, latest: number, clock: LocalTime): boolean {
  const back = clock.offsetAt(latest) - clock.offsetAt(latest + HOUR)
  return back > 0 && time >= latest - back
}
