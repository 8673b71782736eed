import { parseArgs } from 'node:util'
import { wholeNumber } from '../../testkit/options.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { median } from '../lib/statistics.ts'
import { grouped, markdownTable } from '../lib/table.ts'
import { healthySite } from './healthy.ts'
import { simulate } from './history.ts'
import { Random } from './random.ts'
import { DEATHS, falseAlarms, foundByCanary, foundByVolume, type Moment } from './site-death.ts'
import { FIRST_JUDGED, RUN_EVERY, SLOTS_A_DAY, SLOTS_AN_HOUR } from './world.ts'

const HELP = `How soon a dead site is found by the probes of volume and by the canary, and how often the canary is wrong.

  node bench/detection/canary.ts [options]

  --deaths N     of each site, spread over the hours of a week (84)
  --seed N       where their random numbers begin (1000)
  --write        put the results into bench/RESULTS.md
`

/** Page views a day of a shop, from a quiet one on. */
const SIZES = [5, 20, 100, 500, 2_000, 10_000] as const
const LOSSES = [0.01, 0.05] as const
/** So many show how rare two in a row are. */
const RUNS_A_MONTH = (30 * SLOTS_A_DAY) / RUN_EVERY
const MONTHS = 100

const { values: options } = parseArgs({
  options: {
    deaths: { type: 'string', default: '84' },
    seed: { type: 'string', default: '1000' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function measure(): Promise<void> {
  const deaths = wholeNumber('--deaths', options.deaths, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const moments = momentsOf(deaths)
  const rows = SIZES.map((daily, index) => {
    const site = { ...healthySite('shop', 1), daily }
    const history = simulate(site, [], new Random(seed + index), 'volume')
    const found = moments.map((moment) => foundByVolume(history, moment) ?? Number.POSITIVE_INFINITY)
    const events = daily * site.events.reduce((sum, { share }) => sum + share, 0)
    return [`volume, ${grouped(events)} events a day`, ...figuresOf(found)]
  })
  for (const death of DEATHS) {
    const found: number[] = []
    for (const moment of moments) found.push(await foundByCanary(death, moment))
    rows.push([`canary, ${death}`, ...figuresOf(found)])
  }
  const text = `${markdownTable(['found by', 'median', 'nine of ten within', 'at most'], rows)}\n\n${await alarmsTable(seed)}`
  const settings = `A shop of ${SIZES.length} sizes that dies at ${deaths} moments of a week, seed ${seed}, after five weeks of past; runs every ${RUN_EVERY} min.`
  const header = runHeader('Dead sites, by volume and by canary', settings, [])
  process.stdout.write(`${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

/** Evenly over a week, and over the minutes between two runs. */
function momentsOf(deaths: number): Moment[] {
  return Array.from({ length: deaths }, (_, n) => {
    const diesAt = FIRST_JUDGED + Math.floor((n * 7 * SLOTS_A_DAY) / deaths)
    return { diesAt, firstRun: diesAt + 1 + (n % RUN_EVERY) }
  })
}

function figuresOf(minutes: readonly number[]): string[] {
  const sorted = minutes.toSorted((a, b) => a - b)
  return [median(sorted), sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0, sorted.at(-1) ?? 0].map(inWords)
}

function inWords(minutes: number): string {
  if (!Number.isFinite(minutes)) return 'not in two days'
  return minutes < 2 * SLOTS_AN_HOUR ? `${minutes.toFixed(1)} min` : `${(minutes / SLOTS_AN_HOUR).toFixed(1)} h`
}

async function alarmsTable(seed: number): Promise<string> {
  const rows: string[][] = []
  for (const share of LOSSES) {
    const random = new Random(seed)
    const alarms = await falseAlarms(MONTHS * RUNS_A_MONTH, () => random.next() < share)
    rows.push([`${share * 100} %`, (alarms / MONTHS).toFixed(2)])
  }
  return markdownTable(['canaries lost one by one', 'false alarms a month'], rows)
}

if (options.help) process.stdout.write(HELP)
else await measure()
