import { once } from 'node:events'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { localTime } from '../../detection/index.ts'
import { asError, StartupError } from '../../lib/index.ts'
import { bytesOf, csvParser, fileError } from './csv.ts'
import { FileReplay, type ReplayOptions } from './file-replay.ts'
import { readLabels } from './labels.ts'
import { picture } from './picture.ts'
import { scoreLines } from './score.ts'

export interface BacktestOptions extends ReplayOptions {
  readonly csv: string
  readonly timezone: string
}

/** Where the rows (`out`) and the score (`err`) are written. */
export interface Output {
  out: NodeJS.WritableStream
  err: NodeJS.WritableStream
}

/**
 * Streams the file through the detector and writes each judged row to `out`.
 *
 * @throws StartupError when a file cannot be read or written, or naming the line of a row that is not valid
 */
export async function backtest(options: BacktestOptions, { out, err }: Output): Promise<void> {
  const { csv, svg, alarms = false, timezone } = options
  refuseSameFile(options)
  if (options.svg !== undefined) refuseOtherFile(options.svg)
  const clock = localTime(timezone)
  const labels = options.labels === undefined ? null : await readLabels(options.labels, clock)
  const replay = new FileReplay(clock, labels, options)
  try {
    const isJudgedWhole = svg !== undefined || labels !== null
    await pipeline(
      bytesOf(csv),
      csvParser(),
      (records) => replay.judge(records),
      (rows) => write(rows, out, isJudgedWhole),
    )
  } catch (thrown) {
    if (thrown instanceof OutputLost) return
    throw thrown instanceof StartupError ? thrown : fileError(csv, thrown)
  }
  const { score } = replay
  if (score !== null && !alarms) err.write(`${scoreLines(score).join('\n')}\n`)
  if (svg === undefined) return
  const title = csv === '-' ? 'standard input' : basename(csv)
  try {
    await writeFile(svg, picture({ title, timezone, clock, replay }))
  } catch (thrown) {
    throw new StartupError(`${svg}: the picture cannot be written: ${asError(thrown).message}`)
  }
}

/** `head` has seen enough, or a disk is full: then the command line itself says so, and fails. */
class OutputLost extends Error {}

/**
 * Writes the texts to `out`.
 *
 * @param toTheEnd whether all texts are taken even when `out` is lost
 * @throws OutputLost
 */
async function write(texts: AsyncIterable<string>, out: NodeJS.WritableStream, toTheEnd: boolean): Promise<void> {
  let isLost = false
  out.on('error', () => {
    isLost = true
  })
  for await (const text of texts) {
    if (!isLost && !out.write(text)) await once(out, 'drain').catch(() => undefined)
    if (isLost && !toTheEnd) throw new OutputLost()
  }
}

function refuseSameFile({ csv, labels, svg }: BacktestOptions): void {
  if (csv === '-' && labels === '-') {
    throw new StartupError('--csv and --labels are both standard input: give one of them as a file')
  }
  if (svg === undefined) return
  for (const [option, file] of [['--csv', csv] as const, ['--labels', labels] as const]) {
    if (file !== undefined && isSame(file, svg)) {
      throw new StartupError(`--svg is the file of ${option}: give the picture one of its own`)
    }
  }
}

/** An earlier picture is replaced. */
function refuseOtherFile(svg: string): void {
  if (statSync(svg, { throwIfNoEntry: false })?.isFile() !== true) return
  const start = startOf(svg, SVG_START.length)
  if (start !== '' && start !== SVG_START) {
    throw new StartupError(`${svg} exists and is no picture: give --svg a file of its own`)
  }
}

const SVG_START = '<svg'

function startOf(file: string, length: number): string {
  const bytes = Buffer.alloc(length)
  try {
    const opened = openSync(file, 'r')
    try {
      return bytes.toString('latin1', 0, readSync(opened, bytes))
    } finally {
      closeSync(opened)
    }
  } catch (thrown) {
    throw fileError(file, thrown)
  }
}

/** Whether both are one file, also by a link. */
function isSame(file: string, other: string): boolean {
  const [one, two] = [file, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return resolve(file) === resolve(other) || (one !== undefined && one.dev === two?.dev && one.ino === two.ino)
}
