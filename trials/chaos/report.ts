import { median } from '../../bench/lib/statistics.ts'
import { grouped, markdownTable } from '../../bench/lib/table.ts'
import type { FaultOutcome, RoundOutcome } from './rounds.ts'

const HEAD = [
  'fault',
  'engine',
  'rounds',
  'acknowledged',
  'error or no answer',
  'lost',
  'counted twice',
  'back after, median ms',
  'longest ms',
]

/** The outcome of a run as Markdown: what was done, then what was not, then notes. */
export function reportText(outcomes: readonly FaultOutcome[]): string {
  const done = outcomes.filter(({ skipped }) => skipped === undefined)
  const rows = done.map((outcome) => row(outcome.fault.description, outcome.fault.engine, outcome.rounds))
  const all = done.flatMap(({ rounds }) => rounds)
  const total = all.length === 0 ? [] : [row('all', '', all)]
  const skipped = outcomes.flatMap(({ fault, skipped: reason }) =>
    reason === undefined ? [] : [`- Not done: ${fault.description} (${fault.engine}): ${reason}`],
  )
  const notes = outcomes.flatMap(({ fault, note }) => (note === undefined ? [] : [`- ${fault.description}: ${note}`]))
  const failed = outcomes.filter(({ failures }) => failures.length > 0)
  const broken = failed.map(({ fault, rounds }) => {
    const isBroken = rounds.some(({ problems }) => problems.length > 0)
    const what = isBroken ? 'Broken promise' : 'Not played to the end'
    return `- **${what}: ${fault.description} (${fault.engine})**`
  })
  return [markdownTable(HEAD, [...rows, ...total]), [...broken, ...skipped, ...notes].join('\n')].join('\n\n').trim()
}

function row(what: string, engine: string, rounds: readonly RoundOutcome[]): string[] {
  const sum = (figureOf: (round: RoundOutcome) => number) => rounds.reduce((total, round) => total + figureOf(round), 0)
  const recoveries = rounds.map(({ recoveryMs }) => recoveryMs)
  return [
    what,
    engine,
    grouped(rounds.length),
    grouped(sum(({ acknowledged }) => acknowledged)),
    grouped(sum(({ failed }) => failed)),
    grouped(sum(({ lost }) => lost)),
    grouped(sum(({ twice }) => twice)),
    recoveries.length === 0 ? '' : grouped(median(recoveries)),
    recoveries.length === 0 ? '' : grouped(Math.max(...recoveries)),
  ]
}
