import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { backtestCommand } from '../../src/cli/backtest/index.ts'
import { DAY, MINUTE, StartupError } from '../../src/lib/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { type Finished, runCli } from '../../testkit/processes/command-line.ts'

export const STEP = 30 * MINUTE
export const START = Date.UTC(2026, 0, 5)
const stamp = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ')
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

/** In this process: one of its own loads the program, which takes many times as long as what it judges. */
export const backtest = async (t: TestContext, text: string, ...options: string[]) =>
  answerOf(await runHere(['--csv', await writeText(t, 'series.csv', text), ...options]))

/** By the command line, as people do. */
export const backtestInProcess = async (t: TestContext, text: string, ...options: string[]) =>
  answerOf(await runCli(t, ['backtest', '--csv', await writeText(t, 'series.csv', text), ...options]))

function answerOf({ code, out, err }: Finished) {
  const rows = out.slice(1).map((line) => {
    const [timestamp = '', value = '', expected = '', score = '', status = '', low = '', high = ''] = line.split(',')
    return { timestamp, value, expected: Number(expected), score: Number(score), status, low, high }
  })
  return { code, out, err, rows }
}

async function runHere(args: readonly string[]): Promise<Finished> {
  const [out, err] = [new PassThrough(), new PassThrough()]
  const [said, remarked] = [textOf(out), textOf(err)]
  const code = await backtestCommand({ out, err })
    .parseAsync([...args], { from: 'user' })
    .then(() => 0)
    .catch((thrown: unknown) => {
      if (!(thrown instanceof StartupError)) throw thrown
      err.write(`tagwarden: ${thrown.message}\n`)
      return 1
    })
  out.end()
  err.end()
  return { code, out: linesOf(await said), err: linesOf(await remarked) }
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)
