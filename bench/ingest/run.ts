import { parseArgs } from 'node:util'
import { asError } from '../../src/lib/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { caveats } from '../lib/machine.ts'
import { programsWith } from '../lib/programs.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { type Outcome, outcomeText } from '../lib/table.ts'
import { type Bench, CONNECTIONS } from './rounds.ts'
import { SCENARIOS } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'

const HELP = `Measures Tagwarden's ingest against a bare node:http + JSON.parse server in the same run.

  node bench/ingest/run.ts [options]

  --only a,b     scenarios to run: ${Object.keys(SCENARIOS).join(', ')}
  --seconds N    measured seconds of each load (5)
  --rounds N     rounds, of which medians are shown (3)
  --minutes N    minutes of full load in the memory scenario (0: one load of --seconds)
  --against DIR  another checkout of Tagwarden, with its packages installed, measured in turn with this one by one-site, sites-…,
                 batch-200 and memory
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(SCENARIOS).join(',') },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '0' },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const bench: Bench = {
    session,
    seconds: wholeNumber('--seconds', options.seconds, 1),
    rounds: wholeNumber('--rounds', options.rounds, 1),
    soakMinutes: wholeNumber('--minutes', options.minutes, 0),
    programs: programsWith(options.against),
    progress: (text) => process.stderr.write(`  ${text}\n`),
  }
  const scenarios = options.only.split(',').map((name) => ({ name, scenario: scenarioOf(name) }))
  const outcome: Outcome = { measurements: [], checks: [] }
  for (const { name, scenario } of scenarios) {
    const { measurements, checks } = await runScenario(bench, name, scenario)
    outcome.measurements.push(...measurements)
    outcome.checks.push(...checks)
  }
  const settings = `Rounds: ${bench.rounds} of ${bench.seconds} s (many sites: at least 30), ${CONNECTIONS} connections; medians.`
  const header = runHeader('Ingest', settings, caveats(session.pins, session.folder))
  const text = outcomeText(outcome)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

function scenarioOf(name: string): Scenario {
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new Error(`--only: there is no scenario ${name}\n\n${HELP}`)
  return scenario
}

/** One that fails becomes a row that says so: the others of a long run are not lost with it. */
async function runScenario(bench: Bench, name: string, scenario: Scenario): Promise<Outcome> {
  process.stderr.write(`${name}\n`)
  try {
    return await bench.session.step(() => scenario(bench))
  } catch (thrown) {
    if (bench.session.isClosing) throw thrown
    const { message } = asError(thrown)
    bench.progress(message)
    const [firstLine = ''] = message.split('\n')
    return { measurements: [], checks: [{ what: name, value: firstLine, target: 'runs to its end', reached: false }] }
  }
}
