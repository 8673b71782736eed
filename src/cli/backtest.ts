import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { parse } from 'csv-parse'
import { DATA_VOLUME_DEFAULTS, type LocalTime, localTime, SeriesReplay, type VolumeConfig } from '../detection/index.ts'
import { asError, HOUR, MINUTE, StartupError } from '../lib/index.ts'
import { timezone } from './options.ts'

const HELP = `
Judges each row as the data_volume probe would have when it came: by what is usual at its hour of the week, as learnt from the
four weeks before. Prints one line a row:

  timestamp,value,expected,score,status

score goes from 0 to 1 and grows with how surprising the value is for this series; status is what the probe would say.
The file has a header line with the columns timestamp and value, rows in order of time at a fixed step, gaps allowed. Times
are ISO 8601 or YYYY-MM-DD HH:MM:SS; without an offset they are taken as local times of --timezone.

Examples:
  npm run tagwarden -- backtest --csv events.csv
  npm run tagwarden -- backtest --csv events.csv --direction both --timezone Europe/Berlin
  sqlite3 -header -csv counts.db "SELECT timestamp, value FROM counts" | npm run -s tagwarden -- backtest --csv -`

export function backtestCommand(): Command {
  return new Command('backtest')
    .description('replay a series of counts through the data_volume detector')
    .requiredOption('--csv <file>', 'the series, or - for standard input')
    .addOption(
      new Option('--direction <which>', 'which deviations are bad').choices(['down', 'up', 'both']).default('down'),
    )
    .option('--timezone <zone>', 'IANA zone whose days and weeks the series follows', timezone, 'UTC')
    .addHelpText('after', HELP)
    .action((options: BacktestOptions) => backtest(options))
}

interface BacktestOptions {
  csv: string
  direction: VolumeConfig['direction']
  timezone: string
}

/** Characters written at once: a write of its own for each row takes longer than judging it. */
const CHUNK = 16_384
const HEADER = 'timestamp,value,expected,score,status\n'

/**
 * Streams the file through the detector to standard output, row by row.
 *
 * @throws StartupError when the file cannot be read or a row is not as it should be, naming the line
 */
async function backtest({ csv, direction, timezone }: BacktestOptions): Promise<void> {
  const clock = localTime(timezone)
  const replay = new SeriesReplay(clock, { ...DATA_VOLUME_DEFAULTS, direction })
  const name = csv === '-' ? 'standard input' : csv
  try {
    await pipeline(
      csv === '-' ? process.stdin : createReadStream(csv),
      parse({ bom: true, info: true, skip_empty_lines: true, trim: true }),
      async function* (records) {
        let lines = HEADER
        for await (const { timestamp, value, time } of readSeries(records, clock)) {
          const { expected, score, status } = replay.next(time, Number(value))
          // Times and numbers need no quotes: what could need them has been refused.
          lines += `${timestamp},${value},${expected === null ? '' : rounded(expected)},${score.toFixed(4)},${status}\n`
          if (lines.length < CHUNK) continue
          yield lines
          lines = ''
        }
        yield lines
      },
      process.stdout,
      { end: false },
    )
  } catch (thrown) {
    const error: NodeJS.ErrnoException = asError(thrown)
    // The reader of the output has seen enough: `| head`.
    if (error.code === 'EPIPE') return
    throw new StartupError(error.code === 'ENOENT' ? `${name}: there is no such file` : `${name}: ${error.message}`)
  }
}

/** Six digits are more than any expectation is worth. */
const rounded = (value: number): string => String(Number(value.toPrecision(6)))

interface SeriesRow {
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
async function* readSeries(records: AsyncIterable<CsvRecord>, clock: LocalTime): AsyncGenerator<SeriesRow> {
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

const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i

/** Epoch ms of an ISO 8601 time or `YYYY-MM-DD HH:MM:SS`, local to the clock where it has no offset; null for anything else. */
export function timeOf(text: string, clock: LocalTime): number | null {
  const match = FORM.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] = match
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const isInCalendar = new Date(date).getUTCMonth() === Number(month) - 1 && Number(day) > 0
  if (!isInCalendar || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const ofDay = (Number(hour) * 60 + Number(minute)) * MINUTE + Number(second) * 1_000
  const time = date + ofDay + Math.floor(Number(`0.${fraction}`) * 1_000)
  return offset === undefined ? clock.instantOf(time) : time - offsetOf(offset)
}

/** Whether the time has no offset and is that of some zone's clocks. */
const isLocal = (text: string): boolean => FORM.exec(text)?.[8] === undefined

function offsetOf(text: string): number {
  if (text.toUpperCase() === 'Z') return 0
  const digits = text.slice(1).replace(':', '')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0')
  return (text.startsWith('-') ? -1 : 1) * minutes * MINUTE
}
