import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { DATA_VOLUME_DEFAULTS, localTime, SeriesReplay, type VolumeConfig } from '../../detection/index.ts'
import { asError, StartupError } from '../../lib/index.ts'
import { readSeries } from './series.ts'

export interface BacktestOptions {
  csv: string
  direction: VolumeConfig['direction']
  timezone: string
}

/** Characters written at once: a write of its own for each row takes longer than judging it. */
const CHUNK = 16_384
const HEADER = 'timestamp,value,expected,score,status\n'

/**
 * Streams the file through the detector to standard output, row by row.
 *
 * @throws StartupError when the file cannot be read or a row is not as it should be, naming the line
 */
export async function backtest({ csv, direction, timezone }: BacktestOptions): Promise<void> {
  const clock = localTime(timezone)
  const replay = new SeriesReplay(clock, { ...DATA_VOLUME_DEFAULTS, direction })
  const name = csv === '-' ? 'standard input' : csv
  try {
    await pipeline(
      csv === '-' ? process.stdin : createReadStream(csv),
      parse({ bom: true, info: true, skip_empty_lines: true, trim: true }),
      async function* (records) {
        let lines = HEADER
        for await (const { timestamp, value, time } of readSeries(records, clock)) {
          const { expected, score, status } = replay.next(time, Number(value))
          // Times and numbers need no quotes: what could need them has been refused.
          lines += `${timestamp},${value},${expected === null ? '' : rounded(expected)},${score.toFixed(4)},${status}\n`
          if (lines.length < CHUNK) continue
          yield lines
          lines = ''
        }
        yield lines
      },
      process.stdout,
      { end: false },
    )
  } catch (thrown) {
    const error: NodeJS.ErrnoException = asError(thrown)
    // The reader of the output has seen enough: `| head`.
    if (error.code === 'EPIPE') return
    throw new StartupError(error.code === 'ENOENT' ? `${name}: there is no such file` : `${name}: ${error.message}`)
  }
}

/** Six digits are more than any expectation is worth. */
const rounded = (value: number): string => String(Number(value.toPrecision(6)))
