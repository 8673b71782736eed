import { isObject, number, percent } from '../../lib/index.ts'
import { GoogleFailure, type JsonRecord, wholeNumberOf } from '../google/failure.ts'
import { type Asked, isTimeZone } from './hours.ts'
import { type Quotas, readQuotas } from './quota.ts'

/** Largest count of an hour; the limit of reference counts. */
const COUNT_MAX = 1_000_000_000
/** The longest name of a time zone has 30 characters. */
const ZONE_MAX = 64

/** What GA4 itself says against its counts. */
export interface Caveats {
  /** Small rows were withheld to protect users from being recognised. */
  isThresholded: boolean
  /** The counts are estimates from a sample of the events. */
  isSampled: boolean
  /** Size of the sample, 0 to 1; null when unknown. */
  sampledShare: number | null
  /** There were too many kinds of rows, so some events were grouped under “(other)”. */
  hasOther: boolean
}

export interface Ga4Report {
  /** Time zone of the property. */
  timezone: string
  /** By GA4's name of the event, then of the hour, e.g. `2026112014`. */
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** The newest hour with any row; null when there are none. */
  newest: string | null
  caveats: Caveats
  quotas: Quotas
}

/** The minutes of each hour to count, excluding `to`. */
export interface Minutes {
  readonly from: number
  readonly to: number
}

const WHOLE_HOUR: Minutes = { from: 0, to: 60 }

/** The body of a `runReport` that counts the events in each hour of the property's time zone, or in some minutes of each hour. */
export function questionOf(
  events: readonly string[],
  { startDate, endDate, hoursMax }: Asked,
  { from, to }: Minutes = WHOLE_HOUR,
): JsonRecord {
  const named = filterOf('eventName', [...events])
  const minutes = Array.from({ length: to - from }, (_, index) => String(from + index).padStart(2, '0'))
  return {
    dateRanges: [{ startDate, endDate }],
    dimensions: [{ name: 'eventName' }, { name: 'dateHour' }],
    metrics: [{ name: 'eventCount' }],
    dimensionFilter:
      minutes.length === WHOLE_HOUR.to ? named : { andGroup: { expressions: [named, filterOf('minute', minutes)] } },
    limit: String(events.length * hoursMax),
    returnPropertyQuota: true,
  }
}

const filterOf = (fieldName: string, values: string[]): JsonRecord => ({
  filter: { fieldName, inListFilter: { values, caseSensitive: true } },
})

/**
 * Reads an answer to such a question. Any invalid part makes it useless: missing rows would look like fewer events.
 *
 * @param rowsMax the requested limit
 * @throws GoogleFailure `bad_answer`
 */
export function readReport(json: JsonRecord, rowsMax: number): Ga4Report {
  const { rows = [], rowCount } = json
  const metadata = isObject(json.metadata) ? json.metadata : {}
  const { timeZone } = metadata
  if (typeof timeZone !== 'string' || timeZone.length > ZONE_MAX || !isTimeZone(timeZone)) {
    throw bad('names no time zone of the property that is known here')
  }
  if (!Array.isArray(rows)) throw bad('has no list of rows')
  const known = rowCount === undefined ? rows.length : wholeNumberOf(rowCount)
  if (rows.length > rowsMax || known !== rows.length) {
    throw bad(`has ${number(rows.length)} rows but reports ${known === null ? 'others' : number(known)}`)
  }
  const counts = new Map<string, Map<string, number>>()
  let newest: string | null = null
  for (const row of rows) {
    const { event, hour, count } = readRow(row)
    const ofEvent = counts.get(event) ?? new Map<string, number>()
    if (ofEvent.has(hour)) throw bad('has two rows of the same event and hour')
    ofEvent.set(hour, count)
    counts.set(event, ofEvent)
    if (newest === null || hour > newest) newest = hour
  }
  return { timezone: timeZone, counts, newest, caveats: readCaveats(metadata), quotas: readQuotas(json.propertyQuota) }
}

const bad = (what: string): GoogleFailure =>
  new GoogleFailure('bad_answer', `The answer of the Google Analytics Data API ${what}`)

/** Reads `{ dimensionValues: [{ value: 'purchase' }, { value: '2026112014' }], metricValues: [{ value: '37' }] }`. */
function readRow(row: unknown): { event: string; hour: string; count: number } {
  const { dimensionValues, metricValues } = isObject(row) ? row : {}
  const [event, hour] = valuesOf(dimensionValues, 2)
  const count = wholeNumberOf(valuesOf(metricValues, 1)[0])
  if (typeof event !== 'string' || typeof hour !== 'string' || !/^\d{10}$/.test(hour)) {
    throw bad('has a row without the name of an event and an hour')
  }
  if (count === null || count < 0 || count > COUNT_MAX) throw bad('has a count that is not valid')
  return { event, hour, count }
}

const valuesOf = (list: unknown, length: number): unknown[] =>
  Array.isArray(list) && list.length === length ? list.map((one) => (isObject(one) ? one.value : undefined)) : []

function readCaveats({ subjectToThresholding, samplingMetadatas, dataLossFromOtherRow }: JsonRecord): Caveats {
  const isSampled = Array.isArray(samplingMetadatas) ? samplingMetadatas.length > 0 : isSaid(samplingMetadatas)
  return {
    isThresholded: isSaid(subjectToThresholding),
    isSampled,
    sampledShare: isSampled && Array.isArray(samplingMetadatas) ? shareOf(samplingMetadatas[0]) : null,
    hasOther: isSaid(dataLossFromOtherRow),
  }
}

/** An unknown value counts as a caveat: counts are exact only when nothing speaks against it. */
const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== false

function shareOf(sampling: unknown): number | null {
  const { samplesReadCount, samplingSpaceSize } = isObject(sampling) ? sampling : {}
  const [read, all] = [wholeNumberOf(samplesReadCount), wholeNumberOf(samplingSpaceSize)]
  return read === null || all === null || read < 0 || all <= 0 || read > all ? null : read / all
}

/** Whether counts may differ from what GA4 collected. Thresholding only withholds rows; the others are right. */
export const areInexact = ({ isSampled, hasOther }: Caveats): boolean => isSampled || hasOther

/** The caveats of both reports. */
export const allCaveats = (one: Caveats, other: Caveats): Caveats => ({
  isThresholded: one.isThresholded || other.isThresholded,
  isSampled: one.isSampled || other.isSampled,
  sampledShare: one.sampledShare ?? other.sampledShare,
  hasOther: one.hasOther || other.hasOther,
})

/** Words for people, without a capital or a full stop; empty without caveats. */
export function caveatWords({ isThresholded, isSampled, sampledShare, hasOther }: Caveats): string {
  const read = sampledShare === null ? '' : ` from ${percent(sampledShare)} of the events`
  return [
    ...(isSampled ? [`GA4 estimates the counts${read} (sampling; fewer days may avoid it)`] : []),
    ...(hasOther ? ['GA4 groups some events under “(other)”, so that counts may be too low'] : []),
    ...(isThresholded ? ['GA4 withholds hours with few users (thresholding), which are not written'] : []),
  ].join('; ')
}
