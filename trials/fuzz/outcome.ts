import { grouped, markdownTable } from '../../bench/lib/table.ts'
import type { PartResult } from './part.ts'
import { Tally } from './tally.ts'

/** Garbage that is not collected yet moves the resident memory by this much either way. */
const MOST_GROWTH = 1.15

const TITLES = { open: 'without keys', keys: 'with keys' } as const

export const settingsLine = (seed: number): string => `SQLite, seed ${seed}.`

/** Memory at the end as a multiple of that after a third of the requests. */
const growthOf = ({ memory }: PartResult): number => memory.lateMb / memory.earlyMb

export const isSound = (result: PartResult): boolean => result.failures.count === 0 && !(growthOf(result) > MOST_GROWTH)

/** What came of the attacks, as Markdown. */
export function outcomeText(results: readonly PartResult[]): string {
  const tally = new Tally()
  for (const result of results) tally.absorb(result.tally)
  return [
    verdicts(results),
    'Answers by what was sent (`closed`: the connection was ended, which is all that some bytes get):',
    tally.text(),
  ].join('\n\n')
}

function verdicts(results: readonly PartResult[]): string {
  const head = ['check', ...results.map(({ name }) => TITLES[name]), 'target']
  const row = (what: string, value: (result: PartResult) => string, target: string) => [
    what,
    ...results.map(value),
    target,
  ]
  const rows = [
    row('hostile requests', ({ tally }) => grouped(tally.requests), '1,000,000 together'),
    row(
      'kinds of failure (5xx, crash, no answer, malformed or telling answer, content stored)',
      ({ failures }) => String(failures.count),
      '0',
    ),
    row('healthy requests among them: acknowledged and counted', ({ healthy }) => grouped(healthy), 'all'),
    row('hostile submissions acknowledged and counted', ({ counted }) => grouped(counted), 'all'),
    row('events of valid, hostile senders acknowledged, counted and charged', ({ charged }) => grouped(charged), 'all'),
    row(
      'memory after a third, at the end, at most',
      ({ memory }) => `${[memory.earlyMb, memory.lateMb, memory.peakMb].map((mb) => mb.toFixed(0)).join(', ')} MB`,
      '',
    ),
    row('growth from a third to the end', (result) => `× ${growthOf(result).toFixed(2)}`, `< ${MOST_GROWTH}`),
    row('requests/s', ({ tally, seconds }) => grouped(tally.requests / seconds), ''),
  ]
  return markdownTable(head, rows)
}
