import { parseArgs } from 'node:util'
import { wholeNumber } from '../../../testkit/options.ts'
import { runHeader, writeResults } from '../../lib/results-file.ts'
import { measureAgency } from './agency.ts'
import { listing } from './listing.ts'
import { type SeedFigures, tables } from './tables.ts'

const HELP = `Measures what becomes of faults: which alerts are one incident, and how many messages people get.

  node bench/alerts/incidents/run.ts [options]

  --sites N      sites of an agency, two of a client (12: a minute or two an agency)
  --seed N,…     the agencies, or the first of them (3000)
  --seeds N      how many agencies (4)
  --folder PATH  keeps what the data probes find there, and takes it from there: for trying other rules
  --list         names wrong merges, faults in several incidents, with their alerts, and what no one was notified of
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '12' },
    seed: { type: 'string', default: '3000' },
    seeds: { type: 'string', default: '4' },
    folder: { type: 'string' },
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await run()

async function run(): Promise<void> {
  const sites = wholeNumber('--sites', options.sites, 2)
  const given = options.seed.split(',').map((seed) => wholeNumber('--seed', seed, 0))
  const [first = 0] = given
  const count = wholeNumber('--seeds', options.seeds, 1)
  const seeds = given.length > 1 ? given : Array.from({ length: count }, (_, index) => first + index)
  const all: SeedFigures[] = []
  for (const seed of seeds) {
    const { figures, symptoms } = await measureAgency(seed, sites, options.folder ?? null)
    all.push({ seed, figures })
    process.stderr.write(`  seed ${seed} done\n`)
    if (!options.list) continue
    for (const merge of figures.wrongMerges) process.stdout.write(`wrong merge, seed ${seed}: ${merge}\n`)
    for (const line of listing(symptoms)) process.stdout.write(`${line}\n`)
    for (const cause of figures.unfound) process.stdout.write(`not told of, seed ${seed}: ${cause}\n`)
  }
  const settings = `${seeds.length} agencies of ${sites} sites, three weeks each, seeds ${seeds.join(', ')}; the rules were made by seeds 2000, 2001, 7200, 7201, 7300, 8400 and 8401.`
  const header = runHeader('Incidents', settings, [])
  const text = tables(all)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}
