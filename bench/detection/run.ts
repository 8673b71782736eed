import { parseArgs } from 'node:util'
import { wholeNumber } from '../lib/options.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { randomFaults } from './faults.ts'
import { simulate } from './history.ts'
import { randomSite } from './profile.ts'
import { Random } from './random.ts'
import { replay } from './replay.ts'
import { outcomeOf, type SiteOutcome } from './score.ts'
import { tables } from './tables.ts'
import { isVisible, usualRate } from './visible.ts'
import { FIRST_JUDGED, SLOTS } from './world.ts'

const HELP = `Replays simulated sites with known faults through the detectors of the data probes.

  node bench/detection/run.ts [options]

  --sites N      sites (60: about five minutes)
  --seed N       where their random numbers begin (1000; detectors are tuned on seeds below 1000 only)
  --list         name every fault that was missed and every false alarm
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1000' },
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else measure()

function measure(): void {
  const sites = wholeNumber('--sites', options.sites, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const outcomes = Array.from({ length: sites }, (_, index) => {
    if (index % 10 === 9) process.stderr.write(`  ${index + 1} of ${sites} sites\n`)
    return siteOutcome(seed, index)
  })
  const settings = `${sites} sites, three weeks judged after five weeks of past, default settings, seed ${seed}.`
  const header = runHeader('Detection', settings, [])
  const text = tables(outcomes)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

function siteOutcome(seed: number, index: number): SiteOutcome {
  const random = new Random(seed * 1_000 + index)
  const site = randomSite(random, index)
  const faults = randomFaults(site, random)
  const history = simulate(site, faults, random)
  const alarms = replay(history)
  const outcome = outcomeOf(
    faults,
    alarms,
    (fault) => ({ isVisible: isVisible(fault, history), rate: usualRate(fault, history) }),
    SLOTS - FIRST_JUDGED,
  )
  if (options.list)
    list(`${site.name} (${site.daily.toFixed(0)} views a day, ${site.timezone}, batch ${site.batch})`, outcome)
  return outcome
}

function list(name: string, { faults, falseAlarms }: SiteOutcome): void {
  const missed = faults.filter(({ isVisible, detectedAfter }) => isVisible && detectedAfter === null)
  for (const { fault } of missed) process.stdout.write(`missed at ${name}: ${JSON.stringify(fault)}\n`)
  for (const { probe, from, to, subject, message } of falseAlarms) {
    process.stdout.write(`false at ${name}: ${probe} on ${subject} in slots ${from}–${to}: ${message}\n`)
  }
}
