import type { LocalTime } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'
import { isLocal, timeOf } from './timestamp.ts'

export interface SeriesRow {
  /** As they stand in the file. */
  timestamp: string
  value: string
  /** Epoch ms, never before that of the row before. */
  time: number
}

/** As the CSV parser gives it with `info`. */
interface CsvRecord {
  record: string[]
  info: { lines: number }
}

/**
 * Clocks go back by an hour when summer time ends, and local times then come twice: the rows of that hour count for its end. Any
 * other step back is another order.
 */
function isClockGoingBack(time: number, latest: number, clock: LocalTime): boolean {
  const back = clock.offsetAt(latest) - clock.offsetAt(latest + HOUR)
  return back > 0 && time >= latest - back
}

/**
 * The rows below the header.
 *
 * @throws Error that names the line, when a column, a time or a value is missing or wrong
 */
export async function* readSeries(records: AsyncIterable<CsvRecord>, clock: LocalTime): AsyncGenerator<SeriesRow> {
  let columns: { timestamp: number; value: number } | null = null
  let latest = Number.NEGATIVE_INFINITY
  let isEmpty = true
  for await (const { record, info } of records) {
    if (columns === null) {
      columns = columnsOf(record)
      continue
    }
    const timestamp = record[columns.timestamp] ?? ''
    const value = record[columns.value] ?? ''
    const time = timeOf(timestamp, clock)
    if (time === null) {
      throw new Error(`line ${info.lines}: timestamp "${timestamp}" is neither ISO 8601 nor YYYY-MM-DD HH:MM:SS`)
    }
    if (value === '' || !Number.isFinite(Number(value))) {
      throw new Error(`line ${info.lines}: value "${value}" is not a number`)
    }
    if (time < latest && !(isLocal(timestamp) && isClockGoingBack(time, latest, clock))) {
      throw new Error(`line ${info.lines}: ${timestamp} comes before the row above; the rows must be in order of time`)
    }
    latest = Math.max(latest, time)
    isEmpty = false
    yield { timestamp, value, time: latest }
  }
  if (columns === null) throw new Error('line 1: there is no header line with the columns timestamp and value')
  if (isEmpty) throw new Error('there is no row below the header: nothing to judge')
}

function columnsOf(header: readonly string[]): { timestamp: number; value: number } {
  const names = header.map((name) => name.toLowerCase())
  const columns = { timestamp: names.indexOf('timestamp'), value: names.indexOf('value') }
  for (const [name, place] of Object.entries(columns)) {
    if (place === -1) throw new Error(`line 1: the header has no column ${name}; it needs timestamp and value`)
  }
  return columns
}
