import type { LocalTime } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'
import { type CsvRecord, isLocal, noTime, timeOf } from './csv.ts'

/** What is in a file of one or several series. */
export interface SeriesFile {
  /** Of each series, as the header has them. */
  readonly names: readonly string[]
  /** Whether the file names its series, and so does the output. */
  readonly isNamed: boolean
  readonly rows: AsyncIterable<SeriesRow>
}

export interface SeriesRow {
  /** As it stands in the file. */
  readonly timestamp: string
  /** Epoch ms, never before that of the row before. */
  readonly time: number
  /** One for each series, as they stand in the file; empty in a gap of one of several series. */
  readonly values: readonly string[]
}

interface Columns {
  readonly timestamp: number
  readonly series: readonly { readonly name: string; readonly at: number }[]
  readonly isNamed: boolean
}

/**
 * Reads the header; the rows come as they are asked for.
 *
 * @throws Error that names the line, when a column, a time or a value is missing or wrong
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

/** A column `value` is the only series, whatever else there is. Without it, every column is one. */
function columnsOf(header: readonly string[]): Columns {
  const names = header.map((name) => name.toLowerCase())
  const timestamp = names.indexOf('timestamp')
  if (timestamp === -1) throw new Error('line 1: the header has no column timestamp; it needs timestamp and value')
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
      if (value === '' ? !isNamed : !Number.isFinite(Number(value))) {
        throw new Error(`line ${info.lines}: ${name} "${value}" is not a number`)
      }
      return value
    })
    if (time < latest && !(isLocal(timestamp) && isClockGoingBack(time, latest, clock))) {
      throw new Error(`line ${info.lines}: ${timestamp} comes before the row above; the rows must be in order of time`)
    }
    latest = Math.max(latest, time)
    isEmpty = false
    yield { timestamp, time: latest, values }
  }
  if (isEmpty) throw new Error('there is no row below the header: nothing to judge')
}

/**
 * Clocks go back by an hour when summer time ends, and local times then come twice: the rows of that hour count for its end. Any
 * other step back is another order.
 */
function isClockGoingBack(time: number, latest: number, clock: LocalTime): boolean {
  const back = clock.offsetAt(latest) - clock.offsetAt(latest + HOUR)
  return back > 0 && time >= latest - back
}
