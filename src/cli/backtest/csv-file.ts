import { createReadStream } from 'node:fs'
import { type Parser, parse } from 'csv-parse'
import { asError, StartupError } from '../../lib/index.ts'

/** As the CSV parser gives it with `info`. */
export interface CsvRecord {
  record: string[]
  info: { lines: number }
}

/** The bytes of a file, or of standard input for `-`. */
export const bytesOf = (file: string): NodeJS.ReadableStream => (file === '-' ? process.stdin : createReadStream(file))

/** Turns bytes into `CsvRecord`s. A record with more or fewer fields than the first is an error that names its line. */
export const csvParser = (): Parser => parse({ bom: true, info: true, skip_empty_lines: true, trim: true })

/** The same error, as one line for people that names the file. */
export function fileError(file: string, thrown: unknown): StartupError {
  const error: NodeJS.ErrnoException = asError(thrown)
  const name = file === '-' ? 'standard input' : file
  return new StartupError(error.code === 'ENOENT' ? `${name}: there is no such file` : `${name}: ${error.message}`)
}
