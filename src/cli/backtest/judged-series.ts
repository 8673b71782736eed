import { DATA_VOLUME_DEFAULTS, type LocalTime, SeriesReplay, type VolumeConfig } from '../../detection/index.ts'
import { type Alarm, AlarmJoiner, type JudgedRow } from './alarms.ts'
import { Thinned } from './thinned.ts'

interface Wanted {
  readonly direction: VolumeConfig['direction']
  readonly band: boolean
  /** Maximum number of points for the picture; 0 for no picture. */
  readonly points: number
}

/** Judges the rows of one series of a file, one by one. */
export class JudgedSeries {
  readonly name: string
  /** What the picture draws; null without a picture. */
  readonly course: Thinned | null
  private readonly replay: SeriesReplay
  private readonly wantsBand: boolean
  private readonly joiner = new AlarmJoiner()

  constructor(name: string, clock: LocalTime, { direction, band, points }: Wanted) {
    this.name = name
    this.replay = new SeriesReplay(clock, { ...DATA_VOLUME_DEFAULTS, direction })
    this.wantsBand = band
    this.course = points === 0 ? null : new Thinned(points)
  }

  get alarms(): readonly Alarm[] {
    return this.joiner.alarms
  }

  next(timestamp: string, time: number, value: string): JudgedRow {
    const amount = Number(value)
    const { expected, score, status, step } = this.replay.next(time, amount)
    const band = this.wantsBand ? this.replay.band() : null
    const row = { timestamp, value, time, end: time + step, expected, score, status, band }
    this.joiner.add(this.name, row)
    this.course?.add(time, amount, step, band)
    return row
  }
}
