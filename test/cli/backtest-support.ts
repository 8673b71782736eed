import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DAY, MINUTE } from '../../src/lib/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { runCli } from '../../testkit/processes/command-line.ts'

export const STEP = 30 * MINUTE
export const START = Date.UTC(2026, 0, 5)
export const stamp = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ')
/** Of a row of `series`. */
export const timeAt = (row: number) => stamp(START + row * STEP)

/** Higher by day than by night, for so many days. */
export const series = (
  days: number,
  valueAt = (_row: number, usual: number) => usual,
): [timestamp: string, value: number][] =>
  Array.from({ length: (days * DAY) / STEP }, (_, row) => {
    const time = START + row * STEP
    const usual = 300 + Math.round(200 * Math.sin((2 * Math.PI * (time % DAY)) / DAY)) + (row % 7)
    return [stamp(time), valueAt(row, usual)]
  })

export const csvOf = (rows: readonly (readonly [string, ...(number | string)[]])[], header = 'timestamp,value') =>
  `${header}\n${rows.map((row) => `${row.join(',')}\n`).join('')}`

export async function writeText(t: TestContext, name: string, text: string): Promise<string> {
  const file = join(await tempDir(t), name)
  await writeFile(file, text)
  return file
}

export async function backtest(t: TestContext, text: string, ...options: string[]) {
  const file = await writeText(t, 'series.csv', text)
  const { code, out, err } = await runCli(t, ['backtest', '--csv', file, ...options])
  const rows = out.slice(1).map((line) => {
    const [timestamp = '', value = '', expected = '', score = '', status = '', low = '', high = ''] = line.split(',')
    return { timestamp, value, expected: Number(expected), score: Number(score), status, low, high }
  })
  return { code, out, err, rows }
}
