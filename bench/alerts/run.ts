import { parseArgs } from 'node:util'
import { MINUTE } from '../../src/lib/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { randomFaults } from '../detection/faults.ts'
import { simulate } from '../detection/history.ts'
import { randomSite } from '../detection/profile.ts'
import { Random } from '../detection/random.ts'
import { replay } from '../detection/replay.ts'
import { FIRST_JUDGED, RUN_EVERY, SLOTS, SLOTS_A_DAY, timeOf } from '../detection/world.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { markdownTable } from '../lib/table.ts'
import { delivered, messagesOf, type Policy, type Timeline } from './messages.ts'
import { StatusLog } from './statuses.ts'

const HELP = `Counts the messages that people would get of simulated sites with known faults, under several rules.

  node bench/alerts/run.ts [options]

  --sites N      sites, two of a client (60: about five minutes)
  --seed N       where their random numbers begin (1000)
  --write        put the results into bench/RESULTS.md
`

const PLAIN: Policy = {
  name: 'every change notified',
  failureThreshold: 1,
  recoveryThreshold: 1,
  hasFlapping: false,
  isGrouped: false,
}
const POLICIES: readonly Policy[] = [
  PLAIN,
  { ...PLAIN, name: 'grouping', isGrouped: true },
  { ...PLAIN, name: 'flapping control', hasFlapping: true },
  { ...PLAIN, name: 'flapping control and grouping (the defaults)', hasFlapping: true, isGrouped: true },
  { ...PLAIN, name: 'thresholds 2 and 2', failureThreshold: 2, recoveryThreshold: 2 },
  {
    name: 'thresholds 2 and 2, flapping control and grouping',
    failureThreshold: 2,
    recoveryThreshold: 2,
    hasFlapping: true,
    isGrouped: true,
  },
  {
    name: 'thresholds 3 and 3, flapping control and grouping',
    failureThreshold: 3,
    recoveryThreshold: 3,
    hasFlapping: true,
    isGrouped: true,
  },
]

const DAYS_A_MONTH = 30
const SITES_A_CLIENT = 2

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1000' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else measure()

function measure(): void {
  const sites = wholeNumber('--sites', options.sites, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const timelines = Array.from({ length: sites }, (_, index) => {
    if (index % 10 === 9) process.stderr.write(`  ${index + 1} of ${sites} sites\n`)
    return timelinesOf(seed, index)
  }).flat()
  const months = (sites * (SLOTS - FIRST_JUDGED)) / (DAYS_A_MONTH * SLOTS_A_DAY)
  const rows = POLICIES.map((policy) => {
    const sent = messagesOf(timelines, policy)
    const count = delivered(sent, policy)
    const kinds = ['opened', 'escalated', 'flapping', 'resolved'].map((kind) =>
      (sent.filter((message) => message.kind === kind).length / months).toFixed(1),
    )
    return [policy.name, (count / months).toFixed(1), ...kinds]
  })
  const settings = `${sites} sites, two of a client, with the faults of the detection benchmark (about six a site in three weeks), seed ${seed}.`
  const header = runHeader('Messages', settings, [])
  const text = markdownTable(
    ['rules', 'messages a site and month', 'opened', 'escalated', 'flapping', 'resolved'],
    rows,
  )
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

/** The results of a site's probes, each at its own time within the interval, as the scheduler spreads them. */
function timelinesOf(seed: number, index: number): Timeline[] {
  const random = new Random(seed * 1_000 + index)
  const site = randomSite(random, index)
  const history = simulate(site, randomFaults(site, random), random)
  const log = new StatusLog()
  replay(history, log)
  const spread = new Random(seed * 1_000 + index)
  return [...log.probes].map(([probe, results]) => {
    const offset = Math.floor(spread.next() * RUN_EVERY * MINUTE)
    return {
      clientId: `client ${Math.floor(index / SITES_A_CLIENT)}`,
      probeId: `${index} ${probe}`,
      results: results.map(({ slot, letter, message }) => ({ at: timeOf(slot) + offset, letter, message })),
    }
  })
}
