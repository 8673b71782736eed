import { createReadStream } from 'node:fs'
import { type Parser, parse } from 'csv-parse'
import type { LocalTime } from '../../detection/index.ts'
import { asError, MINUTE, StartupError } from '../../lib/index.ts'

/** What the CSV parser yields with its option `info`. */
export interface CsvRecord {
  record: string[]
  info: { lines: number }
}

/** The bytes of a file, or of standard input for `-`. */
export const bytesOf = (file: string): NodeJS.ReadableStream => (file === '-' ? process.stdin : createReadStream(file))

/** Bytes of one record, far more than thousands of series need. A quote that is never closed must not take a large file into memory. */
const MOST_OF_RECORD = 4 * 1_048_576

/** A parser that turns bytes into `CsvRecord`s. A record with more or fewer fields than the first is an error that names its line. */
export const csvParser = (): Parser =>
  parse({ bom: true, info: true, skip_empty_lines: true, trim: true, max_record_size: MOST_OF_RECORD })

/** The error as one line for people, with the name of the file. */
export function fileError(file: string, thrown: unknown): StartupError {
  const error: NodeJS.ErrnoException = asError(thrown)
  const name = file === '-' ? 'standard input' : file
  return new StartupError(`${name}: ${messageOf(error)}`)
}

function messageOf(error: NodeJS.ErrnoException & { records?: number }): string {
  if (error.code === 'ENOENT') return 'there is no such file'
  if (error.code !== 'CSV_MAX_RECORD_SIZE') return error.message
  return `row ${(error.records ?? 0) + 1}, the header included, has more than ${MOST_OF_RECORD / 1_048_576} MiB: is a quote in it not closed?`
}

const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i

/** Epoch ms of an ISO 8601 time or `YYYY-MM-DD HH:MM:SS`; without an offset, in the zone of `clock`. Null for any other text. */
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

/** The message for a text that is not a time. */
export const noTime = (what: string, text: string): string =>
  `${what} "${text}" is neither ISO 8601 nor YYYY-MM-DD HH:MM:SS`

/** Whether the text has no offset and so is a local time. */
export const isLocal = (text: string): boolean => FORM.exec(text)?.[8] === undefined

function offsetOf(text: string): number {
  if (text.toUpperCase() === 'Z') return 0
  const digits = text.slice(1).replace(':', '')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0')
  return (text.startsWith('-') ? -1 : 1) * minutes * MINUTE
}
