import { parseArgs } from 'node:util'
import { wholeNumber } from '../../testkit/options.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { estimatesOfSite, historyWithFaults } from './site.ts'
import { errorTable } from './table.ts'

const HELP = `Compares what incidents are said to have cost with what the simulated faults took.

  node bench/impact/run.ts [options]

  --sites N      sites, six faults each (60: about eight minutes)
  --seed N       where their random numbers begin (1000; what estimates was written on seeds below 1000 only)
  --told         the true beginning and end of each fault instead of what the probes saw: seconds
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1000' },
    told: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else measure()

function measure(): void {
  const sites = wholeNumber('--sites', options.sites, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const estimates = Array.from({ length: sites }, (_, index) => {
    if (index % 10 === 9) process.stderr.write(`  ${index + 1} of ${sites} sites\n`)
    return estimatesOfSite(historyWithFaults(seed, index), options.told)
  }).flat()
  const when = options.told ? 'the true beginning and end' : 'beginning and end as the probes saw them'
  const settings = `${sites} sites of seed ${seed}, faults from half an hour to a week, losses of ten and more, ${when}.`
  const header = runHeader('Impact', settings, [])
  const text = errorTable(estimates)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}
