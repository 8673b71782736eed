import { parseArgs } from 'node:util'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession } from '../../testkit/processes/session.ts'
import { type Bench, CONNECTIONS } from '../ingest/rounds.ts'
import { caveats } from '../lib/machine.ts'
import { programsWith } from '../lib/programs.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { INTERVAL_SECONDS } from './data.ts'
import { measureProbes } from './measure.ts'
import { outcomeText } from './outcome.ts'

const HELP = `Measures probes of tag servers on one node with the embedded store, and what they cost its ingest: as fast as it
answers, and at half of that rate.

  node bench/probes/run.ts [options]

  --probes N     http_health probes, every ${INTERVAL_SECONDS} s, each of a site of its own (10,000)
  --seconds N    measured seconds of each load (20)
  --rounds N     rounds, of which medians are shown (3)
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    probes: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else {
  await runSession(async (session) => {
    const probes = wholeNumber('--probes', options.probes, 1)
    const bench: Bench = {
      session,
      seconds: wholeNumber('--seconds', options.seconds, 1),
      rounds: wholeNumber('--rounds', options.rounds, 1),
      soakMinutes: 0,
      programs: programsWith(undefined),
      progress: (text) => process.stderr.write(`  ${text}\n`),
    }
    const measured = await session.step(() => measureProbes(bench, probes))
    const settings =
      `${probes.toLocaleString('en-US')} probes every ${INTERVAL_SECONDS} s. ` +
      `${bench.rounds} rounds of ${bench.seconds} s, ${CONNECTIONS} connections; medians.`
    const header = runHeader('Probes', settings, caveats(session.pins, session.folder))
    const text = outcomeText(measured)
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
  })
}
