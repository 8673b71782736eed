import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { writeFigures } from '../lib/figures.ts'
import { sharedDatabaseServer } from './database-server.ts'
import type { Fault } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { reportText } from './report.ts'
import { type FaultOutcome, playFault } from './rounds.ts'

const width = Math.max(...FAULTS.map(({ name }) => name.length))
const HELP = `Does faults to the service under load, and checks that what was acknowledged is counted exactly once.

  npm run chaos -- [options]

  --only a,b     only these faults
  --rounds N     rounds of each fault, instead of its own number
  --seed N       where random numbers begin (now)
  --first N      number of the first round (1): with a seed, plays one round again
  --write        put the figures into docs/reliability.md

Exit code 1 when a promise was broken. Faults that the machine cannot do are left out and named.

${FAULTS.map(({ name, engine, rounds, description }) => `  ${name.padEnd(width)}  ${engine}, ${rounds} rounds: ${description}`).join('\n')}
`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    first: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else {
  await runSession(async (session) => {
    if (!(await run(session))) process.exitCode = 1
  })
}

/** @returns whether every promise was kept */
async function run({ folder, closers }: Session): Promise<boolean> {
  const faults = chosen(options.only)
  const seed = options.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('--seed', options.seed, 0)
  const first = wholeNumber('--first', options.first, 1)
  const rounds = options.rounds === undefined ? undefined : wholeNumber('--rounds', options.rounds, 1)
  const postgres = sharedDatabaseServer(closers)
  const began = performance.now()
  const outcomes: FaultOutcome[] = []
  for (const fault of faults) {
    say(`${fault.name}: ${fault.description} (${fault.engine})`)
    const outcome = await playFault(fault, {
      seed,
      first,
      rounds: rounds ?? fault.rounds,
      newFolder: () => mkdtempSync(join(folder, 'place-')),
      postgres,
      closers,
      say,
    })
    if (outcome.skipped !== undefined) say(`  not done: ${outcome.skipped}`)
    for (const failure of outcome.failures) say(`  FAILED ${failure}`)
    outcomes.push(outcome)
  }
  const text = reportText(outcomes)
  const settings = `Seed ${seed}, ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`
  process.stdout.write(`${settings}\n\n${text}\n`)
  if (options.write) writeFigures('chaos', settings, text)
  return outcomes.every(({ failures }) => failures.length === 0)
}

function chosen(only: string | undefined): readonly Fault[] {
  if (only === undefined) return FAULTS
  return only.split(',').map((name) => {
    const fault = FAULTS.find((candidate) => candidate.name === name)
    if (fault === undefined) throw new Error(`--only ${name}: there is no such fault, see --help`)
    return fault
  })
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
