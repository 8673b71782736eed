import { pipeline } from 'node:stream/promises'
import type { LocalTime } from '../../detection/index.ts'
import { bytesOf, type CsvRecord, csvParser, fileError, noTime, timeOf } from './csv.ts'

/** A known fault. */
export interface Label {
  /** Null when any series may show it. */
  readonly series: string | null
  /** Epoch ms, both inclusive. */
  readonly from: number
  readonly to: number
  readonly line: number
}

/**
 * Reads the faults from a CSV file with the columns `from`, `to` and optionally `series`.
 *
 * @throws StartupError naming the file and the line
 */
export async function readLabels(file: string, clock: LocalTime): Promise<Label[]> {
  const labels: Label[] = []
  try {
    await pipeline(bytesOf(file), csvParser(), async (records: AsyncIterable<CsvRecord>) => {
      let columns: Columns | null = null
      for await (const { record, info } of records) {
        if (columns === null) columns = columnsOf(record)
        else labels.push(labelOf(record, columns, info.lines, clock))
      }
      if (columns === null) throw new Error('line 1: there is no header line with the columns from and to')
    })
  } catch (thrown) {
    throw fileError(file, thrown)
  }
  return labels
}

/** @throws StartupError naming the file and the line of a label whose series is not in `names` */
export function checkSeries(labels: readonly Label[], names: readonly string[], file: string): void {
  const known = new Set(names)
  for (const { series, line } of labels) {
    if (series === null || known.has(series)) continue
    throw fileError(file, new Error(`line ${line}: there is no series "${series}", only ${listed(names)}`))
  }
}

const MOST_LISTED = 5

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, MOST_LISTED).map((name) => `"${name}"`)
  return names.length > MOST_LISTED
    ? `${shown.join(', ')} and ${names.length - MOST_LISTED} more`
    : shown.join(', ').replace(/, ("[^"]*")$/, ' and $1')
}

interface Columns {
  readonly from: number
  readonly to: number
  /** −1 when there is none. */
  readonly series: number
}

function columnsOf(header: readonly string[]): Columns {
  const names = header.map((name) => name.toLowerCase())
  const columns = { from: names.indexOf('from'), to: names.indexOf('to') }
  for (const [name, place] of Object.entries(columns)) {
    if (place === -1) throw new Error(`line 1: the header has no column ${name}; it needs from and to`)
  }
  return { ...columns, series: names.indexOf('series') }
}

function labelOf(record: readonly string[], columns: Columns, line: number, clock: LocalTime): Label {
  const instant = (name: 'from' | 'to'): number => {
    const text = record[columns[name]] ?? ''
    const time = timeOf(text, clock)
    if (time === null) throw new Error(`line ${line}: ${noTime(name, text)}`)
    return time
  }
  const [from, to] = [instant('from'), instant('to')]
  if (to < from) {
    throw new Error(`line ${line}: to ${record[columns.to]} comes before from ${record[columns.from]}`)
  }
  return { series: record[columns.series] || null, from, to, line }
}
