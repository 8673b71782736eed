/**
 * Writes the picture of docs/detection.md: a month of a simulated shop with two faults, as `tagwarden backtest` draws it. With `--check` it
 * writes nothing, and fails when today's detectors judge that month differently.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fault } from '../bench/detection/faults.ts'
import { healthySite } from '../bench/detection/healthy.ts'
import { simulate } from '../bench/detection/history.ts'
import { Random } from '../bench/detection/random.ts'
import { SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../bench/detection/world.ts'
import { isoTime } from '../src/lib/index.ts'
import { writeGenerated } from './generated-file.ts'

const SEED = 7
const FROM = 14 * SLOTS_A_DAY
const TO = 44 * SLOTS_A_DAY
/** One row per quarter of an hour. */
const STEP = SLOTS_AN_HOUR / 4

const at = (day: number, hour: number): number => day * SLOTS_A_DAY + hour * SLOTS_AN_HOUR
const FAULTS: readonly Fault[] = [
  { kind: 'partial_loss', from: at(37, 13), to: at(37, 21), size: 0.5 },
  { kind: 'silent_sender', from: at(40, 15), to: at(40, 17), size: 0 },
]
/** A sale with nearly twice as many events, which is not a fault. */
const SALES = new Map([[38, 1.8]])

function eventsFile(): string {
  const { total } = simulate({ ...healthySite('shop', 1), sales: SALES }, FAULTS, new Random(SEED), 'volume')
  const rows = Array.from({ length: (TO - FROM) / STEP }, (_, row) => {
    const from = FROM + row * STEP
    return `${isoTime(timeOf(from))},${total.subarray(from, from + STEP).reduce((sum, count) => sum + count, 0)}`
  })
  return ['timestamp,value', ...rows, ''].join('\n')
}

/** The labels, whose ends are both within the fault. */
const labelsFile = (): string =>
  ['from,to', ...FAULTS.map(({ from, to }) => `${isoTime(timeOf(from))},${isoTime(timeOf(to - 1))}`), ''].join('\n')

const folder = mkdtempSync(join(tmpdir(), 'tagwarden-backtest-'))
try {
  const file = (name: string, content?: string): string => {
    const path = join(folder, name)
    if (content !== undefined) writeFileSync(path, content)
    return path
  }
  const program = join(import.meta.dirname, '../bin/tagwarden.mjs')
  const [csv, labels, svg] = [file('events.csv', eventsFile()), file('faults.csv', labelsFile()), file('events.svg')]
  execFileSync(
    process.execPath,
    [program, 'backtest', '--csv', csv, '--timezone', 'Europe/Berlin', '--alarms', '--labels', labels, '--svg', svg],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  writeGenerated('docs/images/backtest.svg', readFileSync(svg, 'utf8'), 'what the detectors say')
} finally {
  rmSync(folder, { recursive: true })
}
