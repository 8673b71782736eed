import type { Band, Status } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'

export interface JudgedRow {
  /** Both as written in the file. */
  readonly timestamp: string
  readonly value: string
  /** The row covers the time from `time` to `end`, epoch ms. */
  readonly time: number
  readonly end: number
  readonly expected: number | null
  readonly score: number
  readonly status: Status
  /** Null when not asked for, or when nothing is known. */
  readonly band: Band | null
}

/** A run of bad rows that counts as one alert. */
export interface Alarm {
  readonly series: string
  /** Start of the first bad row, epoch ms. */
  readonly from: number
  /** End of the first bad row, the earliest time at which it can be judged. */
  readonly knownAt: number
  /** End of the last bad row. */
  readonly to: number
  /** Times of the first and the last bad row, as written in the file. */
  readonly first: string
  readonly last: string
  /** The worst of its rows. */
  readonly status: 'warning' | 'critical'
  readonly rows: number
  /** Sums over the bad rows. */
  readonly value: number
  readonly expected: number
  readonly score: number
}

/** Bad rows less than this apart are one alarm, as an alert that opens again within this time does not notify again. */
const JOINED_WITHIN = HOUR

/** Joins the bad rows of one series into alarms. */
export class AlarmJoiner {
  readonly alarms: Alarm[] = []
  private wasBad = false

  add(series: string, row: JudgedRow): void {
    const { status, time, end, score } = row
    const latest = this.alarms.at(-1)
    const continues = latest !== undefined && (this.wasBad || time - latest.to < JOINED_WITHIN)
    this.wasBad = status !== 'ok'
    if (status === 'ok') return
    const expected = row.expected ?? 0
    const value = Number(row.value)
    if (!continues) {
      const { timestamp: first } = row
      const begun = { series, from: time, knownAt: end, to: end, first, last: first }
      this.alarms.push({ ...begun, status, rows: 1, value, expected, score })
      return
    }
    this.alarms[this.alarms.length - 1] = {
      ...latest,
      to: end,
      last: row.timestamp,
      status: latest.status === 'critical' ? 'critical' : status,
      rows: latest.rows + 1,
      value: latest.value + value,
      expected: latest.expected + expected,
      score: Math.max(latest.score, score),
    }
  }
}

/** The alarms in order of time. */
export const inOrder = (alarms: readonly Alarm[]): Alarm[] => alarms.toSorted((a, b) => a.from - b.from)
