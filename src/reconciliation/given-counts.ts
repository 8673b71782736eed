import { parse } from 'csv-parse/sync'
import { isIsoTime } from '../http/index.ts'
import { AppError, asError, type ErrorDetail, HOUR, isoTime, storable } from '../lib/index.ts'

/** Per request. */
export const ROWS_MAX = 5_000
export const SOURCE_LENGTH_MAX = 64
/** The same as for the names of events that are sent. */
export const EVENT_LENGTH_MAX = 256
/** Per hour. */
export const COUNT_MAX = 1_000_000_000

/** A count as callers send it. */
export interface GivenCount {
  source: string
  event: string
  /** ISO time of the start of a UTC hour. */
  hour: string
  count: number
}

/** A valid count, ready to be written. */
export interface ReferenceCount {
  source: string
  event: string
  /** Epoch ms. */
  hour: number
  count: number
}

/** One row of a request, and its place there for messages: `/counts/3`, `line 4`. */
interface Row extends GivenCount {
  place: string
}

/** The hours that are accepted, epoch ms. The last one may be in the future, as a source that sends local time as UTC is. */
export interface HourBounds {
  first: number
  last: number
  /** How many days counts are kept, for messages. */
  days: number
}

/** The most faults named in one answer. */
const FAULTS_MAX = 20
/** A header with more columns belongs to some other file. */
const COLUMNS_MAX = 20
/**
 * Longer runs of blanks become one, and more separators are refused: the parser takes half a microsecond for each, so 1 MB of
 * them would keep all other requests waiting for half a second.
 */
const BLANKS = /[^\S\n]{64,}/g
const SEPARATORS_MAX = ROWS_MAX * COLUMNS_MAX

/** @throws AppError `invalid_request` naming the faults; none of the counts may be written then */
export const settledCounts = (counts: readonly GivenCount[], bounds: HourBounds): ReferenceCount[] =>
  settled(
    counts.map((count, index) => ({ ...count, place: `/counts/${index}` })),
    bounds,
    [],
  )

/**
 * Parses a CSV file with a header line: the columns source, event, hour and count in any order, separated by commas or
 * semicolons.
 *
 * @param source of all rows; undefined when it is a column
 * @throws AppError `invalid_request` naming lines and faults
 */
export function countsOfCsv(text: string, source: string | undefined, bounds: HourBounds): ReferenceCount[] {
  const [header, ...records] = recordsOf(text)
  if (header === undefined)
    throw refused([{ path: 'line 1', message: 'is missing: send the header source,event,hour,count' }])
  const columns = columnsOf(header, source)
  if (records.length === 0)
    throw refused([{ path: `line ${header.line + 1}`, message: 'is missing: send at least one count' }])
  if (records.length > ROWS_MAX) {
    throw refused([
      { path: `line ${records[ROWS_MAX]?.line}`, message: `exceeds the limit: send at most ${ROWS_MAX} counts` },
    ])
  }
  const faults: ErrorDetail[] = []
  const rows: Row[] = []
  for (const { line, fields } of records) {
    const place = `line ${line}`
    if (fields.length !== header.fields.length) {
      faults.push({ path: place, message: `has ${fields.length} fields, but the header has ${header.fields.length}` })
      continue
    }
    const field = (name: string): string => fields[columns.indexOf(name)] ?? ''
    if (fields.some((text) => text.includes('\ufffd'))) {
      faults.push({ path: place, message: 'is not UTF-8: save the file as CSV UTF-8' })
      continue
    }
    const count = /^\d{1,16}$/.test(field('count')) ? Number(field('count')) : Number.NaN
    rows.push({ place, source: source ?? field('source'), event: field('event'), hour: field('hour'), count })
  }
  return settled(rows, bounds, faults)
}

interface CsvLine {
  line: number
  fields: string[]
}

function recordsOf(text: string): CsvLine[] {
  const [firstLine = ''] = text.trimStart().split('\n', 1)
  // Spreadsheets write semicolons where the comma is the decimal separator.
  const delimiter = firstLine.includes(',') ? ',' : ';'
  if (text.split(delimiter, SEPARATORS_MAX + 2).length > SEPARATORS_MAX + 1) {
    const message = `has more than ${SEPARATORS_MAX} separators: send only source, event, hour and count`
    throw new AppError('invalid_request', `The body ${message}`, [{ path: '', message }])
  }
  try {
    // The cast: csv-parse's types do not know that `info` changes what is returned.
    const records = parse(text.replace(BLANKS, ' '), {
      bom: true,
      info: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      delimiter,
      max_record_size: 16_384,
      // The header, the rows, and one more to notice that there are too many.
      to: ROWS_MAX + 2,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return records.map(({ record, info }) => ({ line: info.lines, fields: record }))
  } catch (thrown) {
    const message = asError(thrown).message.slice(0, 300)
    throw new AppError('invalid_request', `The body is not CSV: ${message}`, [{ path: '', message }])
  }
}

/** @throws AppError `invalid_request` if a column is missing, unknown or repeated */
function columnsOf({ line, fields }: CsvLine, source: string | undefined): string[] {
  const wanted = [...(source === undefined ? ['source'] : []), 'event', 'hour', 'count']
  const path = `line ${line}`
  if (fields.length > COLUMNS_MAX) {
    throw refused([{ path, message: `has ${fields.length} columns: the header must be ${wanted.join(',')}` }])
  }
  const columns = fields.map((name) => name.slice(0, SOURCE_LENGTH_MAX).toLowerCase())
  const faults = [
    ...wanted.filter((name) => !columns.includes(name)).map((name) => `has no column ${name}`),
    ...columns
      .filter((name, index) => !wanted.includes(name) || columns.indexOf(name) !== index)
      .map((name) =>
        name === 'source'
          ? 'has a column source in addition to the parameter'
          : `has an unknown or repeated column “${name}”`,
      ),
  ].map((message) => ({ path, message: `${message}: the header must be ${wanted.join(',')}` }))
  if (faults.length > 0) throw refused(faults)
  return columns
}

function settled(rows: readonly Row[], bounds: HourBounds, before: readonly ErrorDetail[]): ReferenceCount[] {
  const faults = [...before]
  const places = new Map<string, string>()
  const counts: ReferenceCount[] = []
  for (const { place, ...row } of rows) {
    const count = { ...row, source: storable(row.source), event: storable(row.event), hour: Date.parse(row.hour) }
    const fault = faultOf(row, count.hour, bounds)
    const key = JSON.stringify([count.source, count.event, count.hour])
    const same = places.get(key)
    if (fault !== null)
      faults.push({ path: `${place}${place.startsWith('/') ? '/' : ', '}${fault.field}`, message: fault.message })
    // Exports by country or device have such rows. Which of them should count is anyone's guess, so they are refused.
    else if (same !== undefined)
      faults.push({ path: place, message: `has the same source, event and hour as ${same}: add them up` })
    else {
      places.set(key, place)
      counts.push(count)
    }
    if (faults.length >= FAULTS_MAX) break
  }
  if (faults.length > 0) throw refused(faults)
  return counts
}

function faultOf(
  { source, event, hour, count }: GivenCount,
  at: number,
  { first, last, days }: HourBounds,
): { field: string; message: string } | null {
  for (const [field, name, most] of [
    ['source', source, SOURCE_LENGTH_MAX],
    ['event', event, EVENT_LENGTH_MAX],
  ] as const) {
    if (name.trim() === '') return { field, message: 'must be text that is not blank' }
    if (name.length > most) return { field, message: `must have at most ${most} characters` }
    if (name.includes('\0')) return { field, message: 'must not contain NUL characters' }
  }
  if (!isIsoTime(hour))
    return { field: 'hour', message: 'must be a time with a time zone, such as 2026-11-20T14:00:00Z' }
  if (at % HOUR !== 0) return { field: 'hour', message: 'must be the start of an hour in UTC' }
  if (at < first) {
    return { field: 'hour', message: `must be ${isoTime(first)} or later: counts are kept for ${days} days` }
  }
  if (at > last) return { field: 'hour', message: 'must not be in the future' }
  if (!Number.isSafeInteger(count) || count < 0 || count > COUNT_MAX) {
    return { field: 'count', message: `must be a whole number from 0 to ${COUNT_MAX}` }
  }
  return null
}

function refused(all: readonly ErrorDetail[]): AppError {
  const faults = all.slice(0, FAULTS_MAX)
  return new AppError('invalid_request', faults.map(({ path, message }) => `${path} ${message}`).join('; '), faults)
}
