import { DATA_VOLUME_DEFAULTS, type LocalTime, SeriesReplay, type VolumeConfig } from '../../detection/index.ts'
import { type Alarm, AlarmJoiner, type JudgedRow } from './alarms.ts'
import { Thinned } from './thinned.ts'

interface Wanted {
  readonly direction: VolumeConfig['direction']
  readonly band: boolean
  /** Points that a picture of it may have, 0 for none. */
  readonly points: number
}

/** One series of a file on its way through the detector. */
export class JudgedSeries {
  readonly name: string
  /** For a picture; null without one. */
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
