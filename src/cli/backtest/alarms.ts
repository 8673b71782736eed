import type { Band, Status } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'

export interface JudgedRow {
  /** As they stand in the file. */
  readonly timestamp: string
  readonly value: string
  /** The time that the value stands for, epoch ms. */
  readonly time: number
  readonly end: number
  readonly expected: number | null
  readonly score: number
  readonly status: Status
  /** Null where it is not asked for, or nothing is known. */
  readonly band: Band | null
}

/** Bad rows that belong together. */
export interface Alarm {
  readonly series: string
  /** Start of the first bad row, epoch ms. */
  readonly from: number
  /** When the first bad row was over: no one could know earlier. */
  readonly knownAt: number
  /** End of the last bad row. */
  readonly to: number
  /** Times of the first and the last bad row, as they stand in the file. */
  readonly first: string
  readonly last: string
  /** The worst. */
  readonly status: 'warning' | 'critical'
  readonly rows: number
  /** Sums over the bad rows. */
  readonly value: number
  readonly expected: number
  readonly score: number
}

/** Alerts that resolve and open again within this time notify once. */
const JOINED_WITHIN = HOUR

/** Gathers the bad rows of one series into alarms. */
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

/** Of all series, in order of time. */
export const inOrder = (alarms: readonly Alarm[]): Alarm[] => alarms.toSorted((a, b) => a.from - b.from)
