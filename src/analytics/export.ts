import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify'
import { fileNamePart, isoTime } from '../lib/index.ts'
import type { Timeseries } from './timeseries/index.ts'

/**
 * A timeseries as CSV text, one line a point: `t,key,value`, empty where there is no value. Keys come from whatever sends
 * events, so one that a spreadsheet would run as a formula is made text.
 */
export function timeseriesCsv(report: Timeseries): Readable {
  const lines = stringify({ header: true, columns: ['t', 'key', 'value'], escape_formulas: true })
  return Readable.from(points(report)).pipe(lines)
}

function* points({ series }: Timeseries): Generator<[t: string, key: string, value: number | null]> {
  for (const { key, points: ofKey } of series) {
    for (const { t, value } of ofKey) yield [isoTime(t), key, value]
  }
}

/** A file name that every system takes: `my-shop-events-2026-11-20.csv`. */
export function csvFileName(siteName: string, report: Timeseries): string {
  const day = isoTime(report.from).slice(0, 'yyyy-mm-dd'.length)
  return `${[fileNamePart(siteName, 'site'), report.metric, day].join('-')}.csv`
}
