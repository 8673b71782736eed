import { stringify } from 'csv-stringify/sync'
import type { LocalTime, TimeRange, VolumeConfig } from '../../detection/index.ts'
import { csvField, printable, StartupError } from '../../lib/index.ts'
import { type Alarm, inOrder, type JudgedRow } from './alarms.ts'
import type { CsvRecord } from './csv.ts'
import { JudgedSeries } from './judged-series.ts'
import { checkSeries, type Label } from './labels.ts'
import { type Score, scoreLines, scoreOf } from './score.ts'
import { openSeries } from './series-file.ts'
import { MOST_DRAWN, pointsOfEach } from './thinned.ts'

export interface ReplayOptions {
  readonly direction: VolumeConfig['direction']
  readonly band?: true
  readonly alarms?: true
  /** Names of files: the one that `labels` were read from, and the one that the picture is written to. */
  readonly labels?: string
  readonly svg?: string
}

/** Characters per write: writing each row separately takes longer than judging it. */
const CHUNK = 16_384
const ALARM_COLUMNS = 'series,from,to,status,rows,value,expected,score'

/** Judges all series of a file and keeps what a score and a picture need. */
export class FileReplay {
  series: readonly JudgedSeries[] = []
  readonly labels: readonly Label[] | null
  private readonly clock: LocalTime
  private readonly options: ReplayOptions
  private first = Number.POSITIVE_INFINITY
  private end = Number.NEGATIVE_INFINITY

  constructor(clock: LocalTime, labels: readonly Label[] | null, options: ReplayOptions) {
    this.clock = clock
    this.labels = labels
    this.options = options
  }

  /** From the first row to the end of the last. */
  get rows(): TimeRange {
    return { from: this.first, to: this.end }
  }

  get alarms(): readonly Alarm[] {
    return inOrder(this.series.flatMap(({ alarms }) => alarms))
  }

  /** Null without labels. */
  get score(): Score | null {
    return this.labels === null ? null : scoreOf(this.alarms, this.labels, this.rows)
  }

  /**
   * Yields the output in chunks.
   *
   * @throws Error naming the line of a row that is not valid
   */
  async *judge(records: AsyncIterable<CsvRecord>): AsyncGenerator<string> {
    const { names, isNamed, rows } = await openSeries(records, this.clock)
    this.start(names)
    const { alarms: onlyAlarms = false, band: withBand = false } = this.options
    const starts = names.map((name) => (isNamed ? `${csvText(name)},` : ''))
    const columns = `timestamp,value,expected,score,status${withBand ? ',low,high' : ''}`
    let lines = onlyAlarms ? '' : `${isNamed ? 'series,' : ''}${columns}\n`
    for await (const { timestamp, time, values } of rows) {
      for (const [place, one] of this.series.entries()) {
        const value = values[place] ?? ''
        if (value === '') continue
        const row = one.next(timestamp, time, value)
        this.first = Math.min(this.first, time)
        this.end = Math.max(this.end, row.end)
        if (!onlyAlarms) lines += `${starts[place]}${rowText(row, withBand)}\n`
      }
      if (lines.length < CHUNK) continue
      yield lines
      lines = ''
    }
    if (this.first > this.end) throw new Error('there is no value below the header: nothing to judge')
    yield onlyAlarms ? this.alarmText() : lines
  }

  private start(names: readonly string[]): void {
    const { direction, band = false, labels, svg } = this.options
    if (this.labels !== null) checkSeries(this.labels, names, labels ?? '')
    if (svg !== undefined && names.length > MOST_DRAWN) {
      throw new StartupError(`--svg draws at most ${MOST_DRAWN} series, and the file has ${names.length}`)
    }
    const wanted = {
      direction,
      band: band || svg !== undefined,
      points: svg === undefined ? 0 : pointsOfEach(names.length),
    }
    this.series = names.map((name) => new JudgedSeries(name, this.clock, wanted))
  }

  private alarmText(): string {
    const lines = this.alarms.map((alarm) => {
      const { series, first, last, status, rows, value, expected, score } = alarm
      const figures = [rows, rounded(value), rounded(expected), score.toFixed(4)]
      return [csvText(series), first, last, status, ...figures].join(',')
    })
    const { score } = this
    return `${[ALARM_COLUMNS, ...lines, ...(score === null ? [] : ['', ...scoreLines(score)])].join('\n')}\n`
  }
}

/** One row as CSV. Its times and numbers need no quotes: `openSeries` has refused any others. */
function rowText({ timestamp, value, expected, score, status, band }: JudgedRow, withBand: boolean): string {
  const text = `${timestamp},${value},${expected === null ? '' : rounded(expected)},${score.toFixed(4)},${status}`
  if (!withBand) return text
  return band === null ? `${text},,` : `${text},${rounded(band.low)},${rounded(band.high)}`
}

/** To six significant digits, more than an expectation's precision. */
const rounded = (value: number): string => String(Number(value.toPrecision(6)))

/** A name from the file as a CSV field, escaped so that no spreadsheet runs it as a formula, without what a terminal obeys. */
const csvText = (name: string): string =>
  stringify([[csvField(printable(name))]], { escape_formulas: true, eof: false })
